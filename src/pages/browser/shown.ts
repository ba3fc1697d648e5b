import { useEffect, useState } from './preact.ts';

const firstRows = 40;
export const rowsAtOnce = 200;

/** How many rows of a list are drawn: some at once, so that they are there soon, then 200, and more when asked for. */
export function useShown(): [shown: number, showMore: () => void] {
  const [shown, show] = useState(firstRows);
  useEffect(() => show(rowsAtOnce), []);
  return [shown, () => show(shown + rowsAtOnce)];
}
