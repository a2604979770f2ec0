#include "passes/plan/OrderProof.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

using namespace mlir;
using recipe::abi::Transfer;

namespace recipe::plan {
namespace {

// What elements [begin, end) of a buffer hold: the sum over ranks [first, last), by the tree of adjacent pairs.
struct Piece {
  int64_t begin, end;
  int first, last;
};

// A buffer on one rank while a collective runs.
class Values {
public:
  Values(int64_t elements, int rank) : pieces{{0, elements, rank, rank + 1}} {}

  std::vector<Piece> read(int64_t begin, int64_t end) const {
    std::vector<Piece> result;
    for (Piece piece : pieces)
      if (piece.begin < end && piece.end > begin)
        result.push_back({std::max(piece.begin, begin), std::min(piece.end, end), piece.first, piece.last});
    return result;
  }

  void write(const Piece &value) {
    std::vector<Piece> result;
    auto add = [&](Piece piece) {
      if (piece.begin >= piece.end)
        return;
      if (!result.empty() && result.back().first == piece.first && result.back().last == piece.last)
        result.back().end = piece.end;
      else
        result.push_back(piece);
    };
    bool placed = false;
    for (Piece piece : pieces) {
      if (!placed && piece.end > value.begin) {
        add({piece.begin, value.begin, piece.first, piece.last});
        add(value);
        placed = true;
      }
      if (piece.end <= value.begin)
        add(piece);
      else
        add({std::max(piece.begin, value.end), piece.end, piece.first, piece.last});
    }
    pieces = std::move(result);
  }

  bool isSumOver(int ranks) const { return pieces.size() == 1 && pieces[0].first == 0 && pieces[0].last == ranks; }

private:
  std::vector<Piece> pieces; // without gaps, in order
};

// A send or a receive that has begun.
struct Open {
  int rank;
  Transfer transfer;
  std::vector<Piece> sent;
};

class Simulation {
public:
  explicit Simulation(const RankScripts &scripts) : scripts(scripts), ranks(scripts.orders.size()) {
    for (size_t rank = 0; rank < scripts.orders.size(); ++rank)
      states.push_back({});
  }

  std::optional<std::string> run() {
    std::deque<int> ready;
    for (int rank = 0; rank < ranks; ++rank)
      ready.push_back(rank);
    while (!ready.empty() && !problem) {
      int rank = ready.front();
      ready.pop_front();
      advance(rank, ready);
    }
    return problem ? problem : findStuck();
  }

private:
  struct State {
    size_t position = 0; // in the rank's order
    bool inside = false; // a collective
    std::vector<Transfer> transfers;
    size_t next = 0;
    int open = 0; // transfers of the current exchange that are not complete
    std::optional<Values> values;
  };
  // Messages between a pair of ranks in one collective, the `tag` of the runtime, arrive in order.
  using Route = std::tuple<int, int, size_t>; // from, to, place in the order

  const OrderedCollective &collectiveOf(int rank) {
    return scripts.collectives[scripts.orders[rank][states[rank].position]];
  }

  // Goes on until the rank has to wait.
  void advance(int rank, std::deque<int> &ready) {
    State &state = states[rank];
    while (state.open == 0 && !problem) {
      if (!state.inside) {
        if (state.position == scripts.orders[rank].size())
          return;
        begin(rank);
      } else if (state.next == state.transfers.size()) {
        if (!state.values->isSumOver(ranks))
          return fail(rank, "does not end with the sum over all ranks");
        state.inside = false;
        ++state.position;
      } else {
        beginExchange(rank, ready);
      }
    }
  }

  void begin(int rank) {
    State &state = states[rank];
    size_t collective = scripts.orders[rank][state.position];
    state.inside = true;
    state.transfers = scripts.expand(rank, collective);
    state.next = 0;
    state.values.emplace(collectiveOf(rank).elements, rank);
    if (hasRace(state.transfers))
      fail(rank, "sends or overwrites what arrives in the same phase");
  }

  // The runtime may have all transfers of a phase in flight at once.
  static bool hasRace(ArrayRef<Transfer> transfers) {
    struct Range {
      int phase;
      int64_t begin, end;
      bool isSend;
    };
    std::vector<Range> ranges;
    for (const Transfer &transfer : transfers)
      ranges.push_back(
          {transfer.phase, transfer.begin, transfer.begin + transfer.elements, transfer.kind == Transfer::Send});
    llvm::sort(ranges, [](const Range &a, const Range &b) {
      return std::tie(a.phase, a.begin, a.end, a.isSend) < std::tie(b.phase, b.begin, b.end, b.isSend);
    });
    for (size_t i = 1; i < ranges.size(); ++i)
      if (ranges[i].phase == ranges[i - 1].phase && ranges[i].begin < ranges[i - 1].end)
        return true;
    return false;
  }

  void beginExchange(int rank, std::deque<int> &ready) {
    State &state = states[rank];
    int exchange = state.transfers[state.next].exchange;
    // All are counted before the first may be complete.
    size_t first = state.next;
    while (state.next < state.transfers.size() && state.transfers[state.next].exchange == exchange) {
      ++state.next;
      ++state.open;
    }
    for (size_t i = first, end = state.next; i < end && !problem; ++i)
      post(rank, state.transfers[i], ready);
  }

  void post(int rank, const Transfer &transfer, std::deque<int> &ready) {
    bool isSend = transfer.kind == Transfer::Send;
    int64_t end = transfer.begin + transfer.elements;
    if (transfer.partner < 0 || transfer.partner >= ranks || transfer.partner == rank || transfer.begin < 0 ||
        transfer.elements < 1 || end > collectiveOf(rank).elements)
      return fail(rank, "has a message that no rank can take");
    size_t tag = states[rank].position;
    Open own{rank, transfer, isSend ? states[rank].values->read(transfer.begin, end) : std::vector<Piece>()};
    Route route = isSend ? Route(rank, transfer.partner, tag) : Route(transfer.partner, rank, tag);
    std::deque<Open> &queue = waiting[route];
    if (queue.empty() || queue.front().transfer.kind == transfer.kind) {
      queue.push_back(std::move(own));
      return;
    }
    Open other = std::move(queue.front());
    queue.pop_front();
    if (queue.empty())
      waiting.erase(route);
    const Open &send = isSend ? own : other, &receive = isSend ? other : own;
    deliver(send, receive);
    for (int done : {send.rank, receive.rank})
      if (--states[done].open == 0 && done != rank)
        ready.push_back(done);
  }

  void deliver(const Open &send, const Open &receive) {
    int64_t sent = send.transfer.elements * collectiveOf(send.rank).elementBytes;
    int64_t taken = receive.transfer.elements * collectiveOf(receive.rank).elementBytes;
    if (sent != taken)
      return fail(receive.rank, "takes " + std::to_string(taken) + " bytes from rank " + std::to_string(send.rank) +
                                    ", which sends " + std::to_string(sent));
    if (send.transfer.begin != receive.transfer.begin)
      return fail(receive.rank, "puts element " + std::to_string(send.transfer.begin) + " of rank " +
                                    std::to_string(send.rank) + " where element " +
                                    std::to_string(receive.transfer.begin) + " belongs");
    Values &values = *states[receive.rank].values;
    for (const Piece &arrived : send.sent) {
      if (!receive.transfer.combine) {
        values.write(arrived);
        continue;
      }
      for (Piece own : values.read(arrived.begin, arrived.end)) {
        Piece left = receive.transfer.incomingIsLeft ? arrived : own;
        Piece right = receive.transfer.incomingIsLeft ? own : arrived;
        int half = left.last - left.first;
        // Nodes of one balanced tree: neighbours of one size, the left one at an even place.
        if (left.last != right.first || half != right.last - right.first || left.first % (2 * half) != 0)
          return fail(receive.rank, "adds parts of a sum that are no adjacent pair");
        values.write({own.begin, own.end, left.first, right.last});
      }
    }
  }

  void fail(int rank, const std::string &what) {
    problem = "rank " + std::to_string(rank) + " " + what + " in '" + collectiveOf(rank).name + "'";
  }

  std::optional<std::string> findStuck() {
    for (int rank = 0; rank < ranks; ++rank) {
      if (states[rank].open == 0)
        continue;
      for (const auto &[route, queue] : waiting)
        if (queue.front().rank == rank)
          return "rank " + std::to_string(rank) + " waits in '" + collectiveOf(rank).name + "' for rank " +
                 std::to_string(queue.front().transfer.partner) + " to " +
                 (queue.front().transfer.kind == Transfer::Send ? "receive " : "send ") +
                 std::to_string(queue.front().transfer.elements * collectiveOf(rank).elementBytes) + " bytes, which " +
                 whereabouts(queue.front().transfer.partner);
    }
    return std::nullopt;
  }

  std::string whereabouts(int rank) {
    if (states[rank].position == scripts.orders[rank].size())
      return "has ended";
    return "is in '" + collectiveOf(rank).name + "'";
  }

  const RankScripts &scripts;
  int ranks;
  std::vector<State> states;
  std::map<Route, std::deque<Open>> waiting;
  std::optional<std::string> problem;
};

} // namespace

RankScripts scriptsOf(std::vector<OrderedCollective> collectives, int ranks) {
  RankScripts scripts;
  std::vector<size_t> order;
  for (size_t i = 0; i < collectives.size(); ++i)
    order.push_back(i);
  scripts.orders.assign(ranks, order);
  scripts.expand = [collectives, ranks](int rank, size_t index) {
    const OrderedCollective &collective = collectives[index];
    return abi::expandAllReduce(rank, ranks, collective.elements, abi::kAllReduceChunkBytes / collective.elementBytes);
  };
  scripts.collectives = std::move(collectives);
  return scripts;
}

std::optional<std::string> findCounterExample(const RankScripts &scripts) { return Simulation(scripts).run(); }

LogicalResult proveOrder(ModuleOp module) {
  std::vector<OrderedCollective> collectives;
  SymbolTable symbols(module); // a look-up in the module itself is linear
  // The order of issue in a step.
  for (StringRef name : {"forward", "backward", "update"})
    if (auto program = module.lookupSymbol<step::ProgramOp>(name))
      for (auto collective : program.getBody().getOps<step::CollectiveOp>()) {
        auto buffer = symbols.lookup<step::BufferOp>(cast<FlatSymbolRefAttr>(collective.getBuffers()[0]).getAttr());
        int64_t bytes = cast<RankedTensorType>(buffer.getType()).getElementTypeBitWidth() / 8;
        collectives.push_back({collective.getName().str(), int64_t(collective.getElements()), bytes});
      }
  if (collectives.empty())
    return success();
  for (auto arena : module.getOps<step::ArenaOp>())
    for (auto row : arena.getRows().getAsRange<step::RowAttr>()) {
      if (!llvm::isPowerOf2_64(uint64_t(row.getRanks())))
        return arena.emitOpError("a tree of adjacent pairs needs a power of two of ranks, got ") << row.getRanks();
      if (auto example = findCounterExample(scriptsOf(collectives, int(row.getRanks()))))
        return arena.emitOpError("messages of ") << row.getRanks() << " ranks must all meet, got: " << *example;
    }
  return success();
}

} // namespace recipe::plan
