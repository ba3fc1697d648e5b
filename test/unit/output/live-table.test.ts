import { expect, test } from 'vitest';
import { liveTable } from '../../../src/output/live-table.ts';

const table = async (rows: readonly unknown[]) => {
  const width = Math.max(4, ...rows.map((row) => String(row).length));
  return ['Name'.padEnd(width), '─'.repeat(width), ...rows.map((row) => String(row).padEnd(width)), ''].join('\n');
};

test('rows that arrive later stand under the header of the first, which is written again when columns grow', async () => {
  const next = liveTable(table);
  expect(await next(['ab'])).toBe('Name\n────\nab  \n');
  expect(await next(['cd', 'ef'])).toBe('cd  \nef  \n');
  expect(await next(['longer'])).toBe('Name  \n──────\nlonger\n');
  expect(await next(['gh'])).toBe('gh    \n');
});

test('a table too wide for the terminal comes as cards, each batch as it is', async () => {
  const next = liveTable(async (rows) => rows.map((row) => `Name  ${row}\nToken  x\nCost  1\n`).join('\n'));
  expect(await next(['a', 'b'])).toBe('Name  a\nToken  x\nCost  1\n\nName  b\nToken  x\nCost  1\n');
  expect(await next(['c'])).toBe('Name  c\nToken  x\nCost  1\n');
});
