import { readGrid } from './grid.ts';
import { type AnyView, knownColumns } from './view.ts';

/**
 * The answer as a GitHub table, for issues and chats: the cells as people read them, a record as a table of name and
 * value. Characters with a meaning in Markdown are escaped. Ends with a newline; empty when there are no rows. `columns`
 * were checked with selectColumns. Throws what the view's functions throw.
 */
export function renderMarkdown(view: AnyView, answer: unknown, input: unknown, columns?: readonly string[]): string {
  const rows = view.rows(answer as never, input as never);
  if (rows.length === 0) return '';
  const { heads, lines } = readGrid(knownColumns(view, columns), rows);
  if (view.layout === 'record') {
    const pairs = lines.flatMap((cells) => cells.map((cell, index) => [heads[index]?.text ?? '', cell.text]));
    return [line(['Name', 'Value']), line(['---', '---'], String), ...pairs.map((pair) => line(pair))].join('');
  }
  const rule = heads.map((head) => (head.side === 'right' ? '---:' : '---'));
  return [
    line(heads.map((head) => head.text)),
    line(rule, String),
    ...lines.map((cells) => line(cells.map((cell) => cell.text))),
  ].join('');
}

function line(cells: readonly string[], write = escapeMarkdown): string {
  return `| ${cells.map((cell) => write(cell)).join(' | ')} |\n`;
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<>|~&!]/g, '\\$&');
}
