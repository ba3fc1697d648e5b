/** The candidate within two edits (one in short words) of which less than half differs, or the only one with this prefix. */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  const reach = text.length <= 3 ? 1 : 2;
  const [best] = candidates
    .map((candidate) => ({ candidate, distance: editDistance(text.toLowerCase(), candidate.toLowerCase()) }))
    .filter(
      ({ candidate, distance }) =>
        distance <= reach && (distance === 1 || 2 * distance < Math.max(text.length, candidate.length)),
    )
    .sort((a, b) => a.distance - b.distance);
  if (best !== undefined) return best.candidate;
  const starting =
    text.length < 2 ? [] : candidates.filter((each) => each.toLowerCase().startsWith(text.toLowerCase()));
  return starting.length === 1 ? starting[0] : undefined;
}

/** Two letters that changed places are one edit. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isTurned = i > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const turn = isTurned ? (before[j - 2] ?? 0) + 1 : swap;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, swap, turn));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}
