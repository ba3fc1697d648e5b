import { missing } from './format.ts';
import { readGrid } from './grid.ts';
import { safeText } from './safe-text.ts';
import { type AnyColumn, type AnyView, blocksOf, knownColumns } from './view.ts';

/** How results are written for screen readers; `columns` were checked with selectColumns. */
interface PlainOptions {
  unicode: boolean;
  columns?: readonly string[];
  /** Of a part of a long list: where it begins among how many rows. */
  place?: { from: number; of: number };
}

/**
 * The answer as `Header: value` lines, one fact a line, nothing cut or drawn; items are parted by an empty line and counted, further
 * blocks follow under their title. Ends with a newline, or is empty. Throws what the view's functions throw.
 */
export function renderPlain(view: AnyView, answer: unknown, input: unknown, options: PlainOptions): string {
  const rows = view.rows(answer as never, input as never);
  const blocks = blocksOf(view, answer, input);
  const parts = [
    factsOf(view.layout, knownColumns(view, options.columns), rows, options),
    ...blocks.map(({ title, layout, columns, rows: own }) => {
      const facts = factsOf(layout, columns, own, { unicode: options.unicode });
      return facts === '' || title === undefined ? facts : `${safeText(title)}\n\n${facts}`;
    }),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

function factsOf(
  layout: 'table' | 'record',
  columns: readonly AnyColumn[],
  rows: readonly unknown[],
  { unicode, place }: PlainOptions,
): string {
  const { heads, lines } = readGrid(columns, rows, unicode);
  const items = lines.map((cells) =>
    heads.map(({ text }, index) => `${text}: ${spoken(cells[index]?.text ?? '')}`).join('\n'),
  );
  const counted =
    layout === 'record'
      ? items
      : items.map((item, index) => `${(place?.from ?? 0) + index + 1} of ${place?.of ?? items.length}\n${item}`);
  return counted.length === 0 ? '' : `${counted.join('\n\n')}\n`;
}

/** A dash for a missing value is not read aloud. */
function spoken(text: string): string {
  return text === '' || text === missing || text === '-' ? 'none' : text;
}
