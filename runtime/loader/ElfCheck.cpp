#include "runtime/loader/ElfCheck.h"
#include "absl/strings/str_cat.h"
#include <algorithm>
#include <cstring>
#include <elf.h>
#include <vector>

using namespace recipe::rt;

template <typename... T> static absl::Status invalid(const T &...text) {
  return absl::InvalidArgumentError(absl::StrCat("native object: ", text...));
}

namespace {

const uint64_t kPage = 4096;
const uint64_t kMaxAddress = uint64_t(1) << 30;

/// One object under examination. Checks run in the order of the calls in checkElf(); each relies on the earlier ones.
class Elf {
public:
  explicit Elf(absl::Span<const uint8_t> file) : file(file) {}

  absl::Status checkHeader();
  absl::Status checkSegments();
  absl::Status readDynamic();
  absl::Status checkHash();
  absl::Status checkSymbols();
  absl::Status checkRelocations();

private:
  template <typename T> T at(uint64_t offset) const {
    T value;
    std::memcpy(&value, file.data() + offset, sizeof value);
    return value;
  }
  bool inFile(uint64_t offset, uint64_t bytes) const { return offset <= file.size() && bytes <= file.size() - offset; }

  /// The segment that holds [address, address + bytes) in memory, or null.
  const Elf64_Phdr *segmentOf(uint64_t address, uint64_t bytes) const;
  /// Where read-only [address, address + bytes) lies in the file; false if it does not. Read-only, so that no
  /// relocation can change what was checked.
  bool readOnly(uint64_t address, uint64_t bytes, uint64_t &offset) const;

  absl::Status checkLoad(const Elf64_Phdr &segment, uint64_t previousEnd) const;
  absl::Status checkNotes(const Elf64_Phdr &segment) const;
  absl::Status readEntry(const Elf64_Dyn &entry);
  absl::Status checkRelocation(const Elf64_Rela &relocation, bool mustBeRelative) const;

  absl::Span<const uint8_t> file;
  std::vector<Elf64_Phdr> loads;
  Elf64_Phdr dynamic{};
  uint64_t stringTable = 0, stringBytes = 0, symbolTable = 0, hash = 0;
  uint64_t rela = 0, relaBytes = 0, relaCount = 0, jumpRela = 0, jumpRelaBytes = 0;
  uint64_t stringOffset = 0, symbolOffset = 0, symbolCount = 0;
};

} // namespace

absl::Status Elf::checkHeader() {
  if (!inFile(0, sizeof(Elf64_Ehdr)) || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0)
    return invalid("not an ELF file");
  auto header = at<Elf64_Ehdr>(0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_ident[EI_VERSION] != EV_CURRENT || header.e_version != EV_CURRENT || header.e_machine != EM_X86_64 ||
      header.e_type != ET_DYN ||
      (header.e_ident[EI_OSABI] != ELFOSABI_SYSV && header.e_ident[EI_OSABI] != ELFOSABI_GNU) ||
      header.e_ident[EI_ABIVERSION] != 0)
    return invalid("not an x86-64 shared object");
  for (int i = EI_PAD; i < EI_NIDENT; ++i)
    if (header.e_ident[i] != 0)
      return invalid("not an x86-64 shared object");
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum < 1 || header.e_phnum > 32 ||
      header.e_phoff % 8 != 0 || !inFile(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr)))
    return invalid("program headers out of range");
  return absl::OkStatus();
}

absl::Status Elf::checkLoad(const Elf64_Phdr &segment, uint64_t previousEnd) const {
  if (!inFile(segment.p_offset, segment.p_filesz) || segment.p_filesz > segment.p_memsz ||
      segment.p_vaddr > kMaxAddress || segment.p_memsz > kMaxAddress)
    return invalid("segment out of range");
  if (segment.p_align < kPage || segment.p_align > 512 * kPage || (segment.p_align & (segment.p_align - 1)) ||
      segment.p_vaddr % segment.p_align != segment.p_offset % segment.p_align)
    return invalid("segment not aligned to pages");
  // GNU ld leaves empty segments; on a page boundary nothing is mapped for them.
  if (segment.p_memsz == 0 && segment.p_vaddr % kPage != 0)
    return invalid("segment not aligned to pages");
  // Rounded to pages, segments may not share one: the later would unmap part of the earlier.
  if (segment.p_vaddr / kPage * kPage < previousEnd)
    return invalid("segments must ascend and not overlap");
  if ((segment.p_flags & PF_W) && (segment.p_flags & PF_X))
    return invalid("a segment may not be writable and executable");
  if (!(segment.p_flags & PF_R) || (segment.p_flags & ~uint32_t(PF_R | PF_W | PF_X)))
    return invalid("a segment must be readable");
  // The kernel fills the rest of the last page with zeros, which a read-only mapping does not allow.
  if (segment.p_filesz != segment.p_memsz && !(segment.p_flags & PF_W))
    return invalid("only a writable segment may be longer in memory than in the file");
  return absl::OkStatus();
}

absl::Status Elf::checkNotes(const Elf64_Phdr &segment) const {
  const Elf64_Phdr *home = segmentOf(segment.p_vaddr, segment.p_memsz);
  if (!home || segment.p_filesz != segment.p_memsz || (segment.p_align != 4 && segment.p_align != 8) ||
      segment.p_vaddr % segment.p_align != 0 || segment.p_vaddr - home->p_vaddr != segment.p_offset - home->p_offset ||
      !inFile(segment.p_offset, segment.p_filesz))
    return invalid("note out of range");
  uint64_t offset = segment.p_offset, end = segment.p_offset + segment.p_filesz;
  while (offset < end) {
    if (end - offset < sizeof(Elf64_Nhdr))
      return invalid("note out of range");
    auto note = at<Elf64_Nhdr>(offset);
    uint64_t align = segment.p_align;
    uint64_t name = (uint64_t(note.n_namesz) + sizeof note + align - 1) / align * align;
    uint64_t bytes = (name + note.n_descsz + align - 1) / align * align;
    if (bytes > end - offset)
      return invalid("note out of range");
    // Properties steer the dynamic loader (shadow stacks); a kernel needs none.
    if (note.n_type == NT_GNU_PROPERTY_TYPE_0)
      return invalid("GNU property notes are not supported");
    offset += bytes;
  }
  return absl::OkStatus();
}

absl::Status Elf::checkSegments() {
  auto header = at<Elf64_Ehdr>(0);
  std::vector<Elf64_Phdr> all;
  all.reserve(header.e_phnum);
  for (unsigned i = 0; i < header.e_phnum; ++i)
    all.push_back(at<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr)));
  uint64_t end = 0;
  for (const Elf64_Phdr &segment : all) {
    if (segment.p_type != PT_LOAD)
      continue;
    RCP_RETURN_IF_ERROR(checkLoad(segment, end));
    end = (segment.p_vaddr + segment.p_memsz + kPage - 1) / kPage * kPage;
    loads.push_back(segment);
  }
  if (loads.empty() || loads[0].p_offset != 0 || loads[0].p_vaddr != 0 ||
      loads[0].p_filesz < header.e_phoff + header.e_phnum * sizeof(Elf64_Phdr))
    return invalid("the first segment must begin with the headers");
  int dynamics = 0, stacks = 0;
  for (const Elf64_Phdr &segment : all) {
    switch (segment.p_type) {
    case PT_LOAD:
      break;
    case PT_DYNAMIC:
      ++dynamics;
      dynamic = segment;
      break;
    case PT_PHDR:
      if (segment.p_vaddr != header.e_phoff || segment.p_offset != header.e_phoff)
        return invalid("program headers out of range");
      break;
    case PT_NOTE:
      RCP_RETURN_IF_ERROR(checkNotes(segment));
      break;
    case PT_GNU_STACK:
      ++stacks;
      if (segment.p_flags & PF_X)
        return invalid("the stack may not be executable");
      break;
    case PT_GNU_EH_FRAME:
    case PT_GNU_RELRO: {
      const Elf64_Phdr *home = segmentOf(segment.p_vaddr, segment.p_memsz);
      if (!home || (segment.p_type == PT_GNU_RELRO && !(home->p_flags & PF_W)))
        return invalid("segment out of range");
      break;
    }
    default:
      return invalid("segment of unknown type ", segment.p_type);
    }
  }
  if (dynamics != 1)
    return invalid("must have one dynamic segment, got ", dynamics);
  // Without it the dynamic loader makes the stack executable.
  if (stacks != 1)
    return invalid("must have one stack segment, got ", stacks);
  return absl::OkStatus();
}

const Elf64_Phdr *Elf::segmentOf(uint64_t address, uint64_t bytes) const {
  for (const Elf64_Phdr &segment : loads)
    if (address >= segment.p_vaddr && address - segment.p_vaddr <= segment.p_memsz &&
        bytes <= segment.p_memsz - (address - segment.p_vaddr))
      return &segment;
  return nullptr;
}

bool Elf::readOnly(uint64_t address, uint64_t bytes, uint64_t &offset) const {
  const Elf64_Phdr *segment = segmentOf(address, bytes);
  if (!segment || (segment->p_flags & PF_W))
    return false;
  offset = segment->p_offset + (address - segment->p_vaddr);
  return true;
}

absl::Status Elf::readEntry(const Elf64_Dyn &entry) {
  uint64_t value = entry.d_un.d_val;
  switch (entry.d_tag) {
  case DT_HASH: // not used beside DT_GNU_HASH
  case DT_BIND_NOW:
    return absl::OkStatus();
  case DT_GNU_HASH:
    hash = value;
    return absl::OkStatus();
  case DT_STRTAB:
    stringTable = value;
    return absl::OkStatus();
  case DT_STRSZ:
    stringBytes = value;
    return absl::OkStatus();
  case DT_SYMTAB:
    symbolTable = value;
    return absl::OkStatus();
  case DT_SYMENT:
    return value == sizeof(Elf64_Sym) ? absl::OkStatus() : invalid("unknown symbol size ", value);
  case DT_RELA:
    rela = value;
    return absl::OkStatus();
  case DT_RELASZ:
    relaBytes = value;
    return absl::OkStatus();
  case DT_RELACOUNT:
    relaCount = value;
    return absl::OkStatus();
  case DT_RELAENT:
    return value == sizeof(Elf64_Rela) ? absl::OkStatus() : invalid("unknown relocation size ", value);
  case DT_JMPREL:
    jumpRela = value;
    return absl::OkStatus();
  case DT_PLTRELSZ:
    jumpRelaBytes = value;
    return absl::OkStatus();
  case DT_PLTREL:
    return value == DT_RELA ? absl::OkStatus() : invalid("unknown relocation type ", value);
  case DT_PLTGOT: {
    const Elf64_Phdr *home = segmentOf(value, 24);
    return home && (home->p_flags & PF_W) ? absl::OkStatus() : invalid("offset table out of range");
  }
  case DT_FLAGS:
    return (value & ~uint64_t(DF_SYMBOLIC | DF_BIND_NOW)) == 0 ? absl::OkStatus()
                                                               : invalid("unsupported flags ", value);
  case DT_FLAGS_1:
    return (value & ~uint64_t(DF_1_NOW)) == 0 ? absl::OkStatus() : invalid("unsupported flags ", value);
  case DT_NEEDED:
    return invalid("may not need another library");
  case DT_INIT:
  case DT_FINI:
  case DT_INIT_ARRAY:
  case DT_FINI_ARRAY:
  case DT_PREINIT_ARRAY:
    return invalid("may not run code when it is loaded");
  default:
    return invalid("unsupported dynamic entry ", entry.d_tag);
  }
}

absl::Status Elf::readDynamic() {
  const Elf64_Phdr *home = segmentOf(dynamic.p_vaddr, dynamic.p_memsz);
  if (!home || dynamic.p_vaddr % 8 != 0 || !inFile(dynamic.p_offset, dynamic.p_filesz) ||
      dynamic.p_filesz != dynamic.p_memsz || dynamic.p_vaddr - home->p_vaddr > home->p_filesz ||
      dynamic.p_filesz > home->p_filesz - (dynamic.p_vaddr - home->p_vaddr) ||
      dynamic.p_offset - home->p_offset != dynamic.p_vaddr - home->p_vaddr || !(home->p_flags & PF_W))
    return invalid("dynamic segment out of range");
  std::vector<int64_t> seen;
  bool ended = false;
  for (uint64_t i = 0; i < dynamic.p_filesz / sizeof(Elf64_Dyn) && !ended; ++i) {
    auto entry = at<Elf64_Dyn>(dynamic.p_offset + i * sizeof(Elf64_Dyn));
    ended = entry.d_tag == DT_NULL;
    if (ended)
      break;
    if (std::find(seen.begin(), seen.end(), entry.d_tag) != seen.end())
      return invalid("dynamic entry ", entry.d_tag, " is there twice");
    seen.push_back(entry.d_tag);
    RCP_RETURN_IF_ERROR(readEntry(entry));
  }
  if (!ended)
    return invalid("dynamic segment has no end");
  auto has = [&](int64_t tag) { return std::find(seen.begin(), seen.end(), tag) != seen.end(); };
  for (int64_t tag : {DT_GNU_HASH, DT_STRTAB, DT_STRSZ, DT_SYMTAB, DT_SYMENT})
    if (!has(tag))
      return invalid("dynamic entry ", tag, " is missing");
  if (has(DT_RELA) != has(DT_RELASZ) || has(DT_RELA) != has(DT_RELAENT) || (has(DT_RELACOUNT) && !has(DT_RELA)) ||
      has(DT_JMPREL) != has(DT_PLTRELSZ) || has(DT_JMPREL) != has(DT_PLTREL))
    return invalid("incomplete relocation entries");
  if (stringBytes == 0 || !readOnly(stringTable, stringBytes, stringOffset) ||
      file[stringOffset + stringBytes - 1] != 0)
    return invalid("string table out of range");
  return absl::OkStatus();
}

/// Finds the number of symbols: the hash table is the only place that tells.
absl::Status Elf::checkHash() {
  absl::Status bad = invalid("symbol hash table out of range");
  uint64_t offset;
  if (hash % 8 != 0 || !readOnly(hash, 16, offset))
    return bad;
  uint64_t buckets = at<uint32_t>(offset), first = at<uint32_t>(offset + 4), words = at<uint32_t>(offset + 8);
  uint64_t shift = at<uint32_t>(offset + 12);
  if (buckets < 1 || words < 1 || (words & (words - 1)) || shift > 31)
    return bad;
  uint64_t bucketsAt = hash + 16 + words * 8, chains = bucketsAt + buckets * 4;
  if (!readOnly(hash, chains - hash, offset))
    return bad;
  symbolCount = std::max<uint64_t>(first, 1);
  for (uint64_t i = 0; i < buckets; ++i) {
    uint64_t symbol = at<uint32_t>(offset + (bucketsAt - hash) + i * 4);
    if (symbol == 0)
      continue;
    if (symbol < first)
      return bad;
    // A chain visited before ends where it ended then, so following only new ground keeps this linear.
    for (;; ++symbol) {
      uint64_t link;
      if (!readOnly(chains + (symbol - first) * 4, 4, link))
        return bad;
      bool last = at<uint32_t>(link) & 1;
      bool known = symbol < symbolCount;
      symbolCount = std::max(symbolCount, symbol + 1);
      if (last || known)
        break;
    }
  }
  if (symbolTable % 8 != 0 || !readOnly(symbolTable, symbolCount * sizeof(Elf64_Sym), symbolOffset))
    return invalid("symbol table out of range");
  return absl::OkStatus();
}

absl::Status Elf::checkSymbols() {
  for (uint64_t i = 1; i < symbolCount; ++i) {
    auto symbol = at<Elf64_Sym>(symbolOffset + i * sizeof(Elf64_Sym));
    if (symbol.st_name >= stringBytes)
      return invalid("symbol name out of range");
    const char *name = reinterpret_cast<const char *>(file.data() + stringOffset + symbol.st_name);
    int type = ELF64_ST_TYPE(symbol.st_info), binding = ELF64_ST_BIND(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF)
      return invalid("kernels import nothing, got undefined symbol '", name, "'");
    if ((type != STT_NOTYPE && type != STT_OBJECT && type != STT_FUNC) ||
        (binding != STB_GLOBAL && binding != STB_WEAK) || symbol.st_shndx >= SHN_LORESERVE)
      return invalid("unsupported kind of symbol '", name, "'");
    const Elf64_Phdr *home = segmentOf(symbol.st_value, std::max<uint64_t>(symbol.st_size, 1));
    if (!home || (type == STT_FUNC && !(home->p_flags & PF_X)))
      return invalid("symbol '", name, "' out of range");
  }
  return absl::OkStatus();
}

absl::Status Elf::checkRelocation(const Elf64_Rela &relocation, bool mustBeRelative) const {
  uint64_t type = ELF64_R_TYPE(relocation.r_info), symbol = ELF64_R_SYM(relocation.r_info);
  bool relative = type == R_X86_64_RELATIVE && symbol == 0;
  bool bySymbol = type == R_X86_64_64 || type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT;
  if (mustBeRelative ? !relative : !relative && !(bySymbol && symbol >= 1 && symbol < symbolCount))
    return invalid("unsupported relocation ", type);
  const Elf64_Phdr *target = segmentOf(relocation.r_offset, 8);
  if (!target || !(target->p_flags & PF_W) ||
      (relocation.r_offset + 8 > dynamic.p_vaddr && relocation.r_offset < dynamic.p_vaddr + dynamic.p_memsz))
    return invalid("relocation out of range");
  if (relative && !segmentOf(uint64_t(relocation.r_addend), 0))
    return invalid("relocation out of range");
  return absl::OkStatus();
}

absl::Status Elf::checkRelocations() {
  const std::pair<uint64_t, uint64_t> tables[] = {{rela, relaBytes}, {jumpRela, jumpRelaBytes}};
  if (relaCount > relaBytes / sizeof(Elf64_Rela))
    return invalid("relocations out of range");
  for (auto [address, bytes] : tables) {
    uint64_t offset = 0;
    if (bytes == 0)
      continue;
    if (bytes % sizeof(Elf64_Rela) != 0 || address % 8 != 0 || !readOnly(address, bytes, offset))
      return invalid("relocations out of range");
    for (uint64_t i = 0; i < bytes / sizeof(Elf64_Rela); ++i) {
      auto relocation = at<Elf64_Rela>(offset + i * sizeof(Elf64_Rela));
      RCP_RETURN_IF_ERROR(checkRelocation(relocation, address == rela && i < relaCount));
    }
  }
  return absl::OkStatus();
}

absl::Status recipe::rt::checkElf(absl::Span<const uint8_t> file) {
  Elf elf(file);
  RCP_RETURN_IF_ERROR(elf.checkHeader());
  RCP_RETURN_IF_ERROR(elf.checkSegments());
  RCP_RETURN_IF_ERROR(elf.readDynamic());
  RCP_RETURN_IF_ERROR(elf.checkHash());
  RCP_RETURN_IF_ERROR(elf.checkSymbols());
  return elf.checkRelocations();
}
