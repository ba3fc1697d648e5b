import { usageError } from '../errors.ts';

const maxShownLength = 200;

/** The items of `a,b`. Errors: `usage` for an empty one, with the whole text. */
export function splitList(text: string, label: string): string[] {
  const items = text.split(',').map((item) => item.trim());
  if (items.every((item) => item !== '')) return items;
  const shown = text.length > maxShownLength ? `(${[...text].length} characters)` : text;
  if (items.length === 1) throw usageError(`${label}: is empty`);
  throw usageError(`${label} ${shown}: has an empty item`, 'Separate items with one comma: a,b.');
}

/** The two sides of `name=value`. */
export function splitPair(text: string): [name: string, value: string] {
  const at = text.indexOf('=');
  return [text.slice(0, at), text.slice(at + 1)];
}
