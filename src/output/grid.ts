import { missing } from './format.ts';
import { safeText } from './safe-text.ts';
import { type AnyColumn, cellValue, orMisfit, type Shown } from './view.ts';

/** A column as it is drawn: its header, the side its cells stand on, and how they may be cut. */
export interface Head {
  text: string;
  side: 'left' | 'right';
  cut: 'middle' | 'end' | undefined;
  keep: number | undefined;
}

/** What every human format draws from: heads, and a line of cells for each row in the same order. */
export interface Grid {
  heads: readonly Head[];
  lines: readonly (readonly Shown[])[];
}

/**
 * Rows as people read them: every text on one line and safe for a terminal, `–` where there is no value. Columns of
 * numbers stand on the right unless they say otherwise. Without `unicode`, our own ornaments are written in ASCII.
 */
export function readGrid(columns: readonly AnyColumn[], rows: readonly unknown[], unicode = true): Grid {
  const write = unicode ? safeText : (text: string) => plainOrnaments(safeText(text));
  return {
    heads: columns.map((column) => {
      const { header, cut, keep } = column;
      return { text: write(header), side: sideOf(column, rows), cut, keep };
    }),
    lines: rows.map((row, index) =>
      columns.map((column) => {
        const { text, short, ...shown } = readCell(column, row, index);
        return { ...shown, text: write(text), ...(short !== undefined && { short: write(short) }) };
      }),
    ),
  };
}

function readCell(column: AnyColumn, row: unknown, index: number): Shown {
  const shown = orMisfit(() => column.show?.(row as never, index), undefined);
  const isShown = typeof shown === 'object' && shown !== null && typeof shown.text === 'string';
  const value = isShown || typeof shown === 'string' ? shown : cellValue(column, row, index);
  if (value === null || value === undefined || value === missing) return { text: missing, tone: 'muted' };
  return typeof value === 'object' ? value : { text: String(value) };
}

function sideOf(column: AnyColumn, rows: readonly unknown[]): 'left' | 'right' {
  if (column.align !== undefined) return column.align;
  const values = rows.map((row, index) => cellValue(column, row, index)).filter((value) => value != null);
  return values.length > 0 && values.every((value) => typeof value === 'number') ? 'right' : 'left';
}

function plainOrnaments(text: string): string {
  return text.replaceAll('…', '...').replaceAll('–', '-').replaceAll('∞', 'inf').replaceAll('×', 'x');
}
