import { readAsset } from '../files/asset.ts';
import { safeText } from '../model/safe-text.ts';
import { missing } from '../output/format.ts';
import { findNamingColumn, type Grid, readGrid } from '../output/grid.ts';
import type { BarChart, Block, CellText } from '../output/view.ts';
import { renderBars, type WriteText } from './bars.ts';

export interface ReportPage {
  title: string;
  blocks: readonly Block[];
  notes: readonly string[];
  chart: BarChart | undefined;
  /** When it was made, and from what, by name. */
  made: Readonly<Record<string, string>>;
  /** The command that made it. */
  line: string;
  /** Hides what is secret in a text. */
  hide: (text: string) => string;
}

/** One HTML file that runs no script and loads nothing. */
export function renderPage({ title, blocks, notes, chart, made, line, hide }: ReportPage): string {
  const write = (text: string) => escapeHtml(hide(safeText(text)));
  const [main = '', ...others] = blocks.map((block) => renderBlock(block, title, write));
  const facts = Object.entries(made).map(([name, value]) => `<div><dt>${name}</dt> <dd>${write(value)}</dd></div>`);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${write(title)} · sotra</title>
<style>
${readAsset('web/report.css')}</style>
<header>
<h1><bdi>${write(title)}</bdi></h1>
<dl class="made">${facts.join('')}</dl>
</header>
<main>
${main}${notes.map((note) => `<p class="muted">${write(note)}</p>\n`).join('')}${chart === undefined ? '' : renderBars(chart, write)}${others.join('')}</main>
<footer>
<h2>Command</h2>
<code>${write(line)}</code>
</footer>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function renderBlock({ title, layout, columns, rows }: Block, pageTitle: string, write: WriteText): string {
  if (rows.length === 0) return '';
  const heading = title === undefined ? '' : `<h2><bdi>${write(title)}</bdi></h2>\n`;
  const grid = readGrid(columns, rows);
  const body =
    layout === 'record'
      ? grid.lines.map((cells) => renderRecord(grid, cells, write)).join('')
      : `<div class="scroll" role="group" aria-label="${write(title ?? pageTitle)}" tabindex="0">\n${renderTable(grid, write)}</div>\n`;
  return `<section>\n${heading}${body}</section>\n`;
}

function renderRecord({ heads }: Grid, cells: readonly CellText[], write: WriteText): string {
  const lines = heads.map(({ text: head }, index) => {
    const { text = '', tone = 'plain' } = cells[index] ?? {};
    return `<div><dt>${write(head)}</dt> <dd class="${tone}">${renderText(text, write)}</dd></div>\n`;
  });
  return `<dl class="counters record">\n${lines.join('')}</dl>\n`;
}

/** Columns of longer texts are wrapped. */
const maxUnwrapped = 46;
/** An address, hash or UUID, of which start and end are seen. */
const id = /^[\w-]{25,}$/;

function renderTable({ heads, lines }: Grid, write: WriteText): string {
  const longest = heads.map(({ text }, index) =>
    lines.reduce((most, cells) => Math.max(most, (cells[index]?.text ?? '').replace(id, '').length), text.length),
  );
  const naming = findNamingColumn(lines);
  const shapes = heads.map(({ side }, index) =>
    index === naming ? 'naming' : side === 'right' ? 'right' : (longest[index] ?? 0) > maxUnwrapped ? 'long' : '',
  );
  const headCells = heads.map(({ text }, index) => `<th scope="col" class="${shapes[index]}">${write(text)}</th>`);
  const rows = lines.map((cells) => {
    const shown = cells.map((cell, index) => {
      return renderCell(index === naming ? 'th' : 'td', cell, shapes[index] ?? '', write);
    });
    return `<tr>${shown.join('')}</tr>\n`;
  });
  return `<table style="--name: ${longest[naming] ?? 0}ch">
<thead><tr>${headCells.join('')}</tr></thead>
<tbody>
${rows.join('')}</tbody>
</table>
`;
}

function renderCell(tag: 'td' | 'th', cell: CellText | undefined, shape: string, write: WriteText): string {
  const { text = '', tone = 'plain' } = cell ?? {};
  const scope = tag === 'th' ? ' scope="row"' : '';
  return `<${tag}${scope} class="${`${shape} ${tone}`.trim()}">${renderText(text, write)}</${tag}>`;
}

function renderText(text: string, write: WriteText): string {
  const shown = write(text.trim() === '' ? missing : text);
  const words = shown.split(' ');
  return words.every((word) => id.test(word)) ? words.map(renderId).join(' ') : `<bdi>${shown}</bdi>`;
}

function renderId(text: string): string {
  const [, start, middle, end] = /^(0x.{4}|.{4})(.*)(.{4})$/.exec(text) ?? [];
  return `<bdi class="id">${start}<span>${middle}</span>${end}</bdi>`;
}
