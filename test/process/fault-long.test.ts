import { expect, test } from 'vitest';
import { outlineAll } from '../../src/program.ts';
import { allFaults, longCommands } from '../support/fault-long.ts';
import { checkRow, expected, faults, rows } from '../support/fault-table.ts';
import { serviceCommands } from '../support/faults.ts';
import { some } from '../support/size.ts';

test('every command stands in the table of single calls, in that of long ones, or among those that never ask the service', async () => {
  const single = (await serviceCommands()).map(({ name }) => name);
  const long = longCommands.map(({ name }) => name.split('/')[0]);
  const alone =
    `alias set, alias list, alias remove, auth logout, commands, comment sign, comment verify, completion, context list,
    bundle, history, history clear, history set, history show, wait job, wait webhook event,
    context remove, context set, context show, context use, help, key export, key generate, key import, key list, key remove, inbox create, mcp, openapi, sandbox advance,
    sandbox import, sandbox log, sandbox reset, sandbox simulate, sandbox start, sandbox status, sandbox stop, sandbox trade, tour, webhook events, webhook jobs,
    webhook forward, webhook listen, webhook replay, webhook show, webhook stats, webhook trigger, webhook ui, webhook verify, why`.split(
      /,\s+/,
    );
  const all = (await outlineAll()).map(({ words }) => words.join(' '));
  // webhook lint asks for a profile, and one that is not found is a finding.
  // These ask about the intents in a journal, by commands that stand here, and for what a page shows; their own tests say how that ends.
  const others = ['init', 'ui', 'webhook lint'];
  expect([...new Set([...single, ...long, ...alone, ...others])].sort()).toEqual(all.sort());
  expect(alone.filter((name) => [...single, ...long].includes(name))).toEqual([]);
  // Whoever never asks cannot be refused a key, or find the service down.
  const outlines = (await outlineAll()).filter(({ words }) => alone.includes(words.join(' ')));
  for (const { words, exitCodes } of outlines)
    expect([words, exitCodes.filter((code) => [4, 7, 8].includes(code))]).toEqual([words, []]);
});

test('every fault and every command has its line, and no cell is empty', () => {
  expect(Object.keys(faults).sort()).toEqual([...allFaults].sort());
  const lines = rows.map(({ name, well }) => `${name} ${well}`);
  expect(lines).toEqual(longCommands.flatMap(({ name, wells }) => wells.map((well) => `${name} ${well}`)));
  for (const row of rows) for (const fault of allFaults) expect(expected(row, fault).code).toBeGreaterThanOrEqual(0);
});

/** One or two of each column; `npm run prove -- fault-matrix` has them all. */
const oneOfEach = [
  'reset in the body',
  'no first byte',
  '401',
  '404',
  '429',
  '500',
  '503',
  'garbage',
  'wrong shape',
  'refused',
];

test.each(some(rows, 8))('$name with $well requests answered well ends as the table says', async (row) => {
  await checkRow(row, [...oneOfEach, 'redirect elsewhere']);
});
