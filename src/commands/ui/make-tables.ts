import { chooseSide, readCell } from '../../lib/output/cells.ts';
import { formatUsd } from '../../lib/output/format.ts';
import { type AnyView, type Block, type CellText, cellValue, listBlocks, listRows } from '../../lib/output/view.ts';
import type { ServedCell, ServedTable } from '../../pages/activity.ts';

/** The table or record of an answer, and the tables below it; empty for an answer of another shape. */
export function makeTables(view: AnyView | undefined, answer: unknown, input: unknown): ServedTable[] {
  const rows = view && listRows(view, answer, input);
  if (view === undefined || rows === undefined) return [];
  const { layout, columns } = view;
  return [{ layout, columns, rows }, ...listBlocks(view, answer, input)].map(makeTable);
}

/** The most rows of a table that a page draws. */
const maxRows = 1000;

function makeTable({ title, layout, columns, rows: all }: Block): ServedTable {
  const rows = all.slice(0, maxRows);
  const cells = columns.map((column) =>
    alignDigits(rows.map((row, index) => ({ ...readCell(column, row, index), value: cellValue(column, row, index) }))),
  );
  const lines = rows.map((_, row) => cells.flatMap((column) => column[row] ?? []));
  return {
    title,
    layout,
    columns: columns.map((column) => {
      const { key, header, help, extra = false, drop } = column;
      return { key, title: header, help, side: chooseSide(column, rows), extra, drop };
    }),
    rows: lines,
    naming: findNamingColumn(lines),
  };
}

const [compactUsd, percent] = [/^([+-]?)\$[\d.,]+[KMBT]?$/, /^([+-]?)[\d.,]+%$/];

const oneDecimal = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const roundPercent = (digits: string) => oneDecimal.format(Number(digits.replaceAll(',', '')));

/** Gives all figures of a column the same number of decimals: the terminal rounds each figure by its size. */
function alignDigits(cells: readonly ServedCell[]): readonly ServedCell[] {
  const texts = cells.map(({ text }) => text);
  const figures = cells.filter(({ value }) => typeof value === 'number');
  const isCompact = texts.some((text) => /[KMBT]$/.test(text)) && figures.every(({ text }) => compactUsd.test(text));
  if (isCompact) {
    const signed = texts.some((text) => text.startsWith('+'));
    const write = (value: number) => formatUsd(Math.round(value), { signed }).replace('.00', '');
    return cells.map((cell) => (typeof cell.value === 'number' ? { ...cell, text: write(cell.value) } : cell));
  }
  if (!texts.some((text) => text.includes('.')) || !figures.every(({ text }) => percent.test(text))) return cells;
  return cells.map((cell) => ({
    ...cell,
    text: cell.text.replace(/[\d.,]+(?=%$)/, roundPercent),
  }));
}

/** The column that says what a row is about: the one its view emphasizes, or the first in which the rows differ. */
function findNamingColumn(lines: readonly (readonly CellText[])[]): number {
  const [first = [], ...others] = lines;
  const differs = first.map((cell, index) => others.some((cells) => cells[index]?.text !== cell.text));
  const stressed = first.findIndex(({ tone }, index) => tone === 'strong' && differs[index]);
  return stressed === -1 ? Math.max(0, differs.indexOf(true)) : stressed;
}
