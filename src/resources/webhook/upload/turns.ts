/** Resolves when there is room for so many bytes of work in a turn of the event loop. */
export type TakeTurn = (bytes: number) => Promise<void>;

/** Lets some bytes of work through in each turn of the event loop; what asks for more waits in line, so that none of them stops all others. */
export function shareTurns(maxBytes: number): TakeTurn {
  const waiting: { bytes: number; go: () => void }[] = [];
  let spent = 0;
  const turn = () => {
    spent = 0;
    while (spent < maxBytes) {
      const next = waiting.shift();
      if (next === undefined) break;
      spent += next.bytes;
      next.go();
    }
    if (spent > 0) setImmediate(turn);
  };
  return (bytes) =>
    new Promise((go) => {
      if (spent === 0) setImmediate(turn);
      if (spent >= maxBytes || waiting.length > 0) waiting.push({ bytes, go });
      else {
        spent += bytes;
        go();
      }
    });
}
