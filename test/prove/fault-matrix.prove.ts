import { test } from 'vitest';
import { allFaults } from '../fault-long.ts';
import { checkRow, rows } from '../fault-table.ts';

test('every command that is more than one call, against every fault', async () => {
  for (const row of rows) {
    const cells = await checkRow(row, allFaults);
    process.stdout.write(`${row.name} ${row.well} | ${cells.join(' | ')}\n`);
  }
}, 3_600_000);
