/** So many at once are told, and then one in `everyMs`: senders who may be anybody do not fill a screen, a log or the memory. */
const [maxAtOnce, everyMs] = [20, 5000];

/** Notes about refused requests: the first ones each, of a flood a few with the number of those between. */
export function refusalNotes(note: (text: string) => void, now: () => number) {
  let [free, freedMs, untold] = [maxAtOnce, now(), 0];
  const told = () => {
    if (untold > 0) note(`refused ${untold} more requests`);
    untold = 0;
  };
  return {
    add: (text: string) => {
      const freed = Math.floor((now() - freedMs) / everyMs);
      free = Math.min(maxAtOnce, free + Math.max(0, freed));
      if (freed !== 0) freedMs = now();
      if (free === 0) {
        untold += 1;
        return;
      }
      free -= 1;
      told();
      note(text);
    },
    close: told,
  };
}
