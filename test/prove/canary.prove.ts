import { expect, test } from 'vitest';
import { canaryWorld, echoScripts } from '../support/hostile/canaries.ts';
import { type Leak, runLine, strayIn, treeLines, ways } from '../support/hostile/canary-commands.ts';
import { scripts } from '../support/hostile/faults.ts';

/** CANARY_FAULTS: only those whose name holds this. */
const wanted = process.env['CANARY_FAULTS'] ?? '';
/** CANARY_WAYS: only the ways of printing that hold this. */
const chosen = ways.filter((way) => way.includes(process.env['CANARY_WAYS'] ?? ''));
/** Of the ways and faults of a line every ninth pair, so that each line still meets every way, and every fault twice; CANARY_STEP=1: all. */
const step = Number(process.env['CANARY_STEP'] ?? 9);

test('every line of every command, in every way of printing, against every fault and echo', async () => {
  const world = await canaryWorld();
  const leaks: Leak[] = [];
  const ours: string[] = [];
  const codes: Record<number, number> = {};
  const faults = Object.entries({ healthy: world.healthy, ...echoScripts, ...scripts });
  const lines = treeLines();
  const started = performance.now();
  let cells = 0;
  for (const [at, line] of lines.entries()) {
    // A line that sends nothing is the same against every fault.
    let sends = true;
    for (const [row, [fault, script]] of faults.entries()) {
      if (!sends || (line.isSlow && fault !== 'healthy' && !fault.startsWith('echo 4'))) continue;
      if (fault !== 'healthy' && !fault.includes(wanted)) continue;
      world.answerAs(script);
      const before = world.service.requests.length;
      for (const [column, way] of (line.isSlow ? chosen.slice(0, 2) : chosen).entries()) {
        if ((at + row + column) % step !== 0 && fault !== 'healthy') continue;
        const ran = await runLine(line, way, world, fault);
        cells += 1;
        codes[ran.code] = (codes[ran.code] ?? 0) + 1;
        if (ran.code === 1) ours.push(`${line.argv} ${way} (${fault}): ${ran.err.slice(0, 300)}`);
        leaks.push(...ran.leaks.map((leak) => ({ ...leak, argv: `${leak.argv} (${fault})` })));
      }
      sends &&= fault !== 'healthy' || world.service.requests.length > before;
    }
  }
  const stray = strayIn(world);
  const product = { lines: lines.length, ways: chosen.length, faults: faults.length, cells };
  const seconds = Math.round((performance.now() - started) / 1000);
  const figures = { ...product, seconds, codes, leaks: leaks.length, ours: ours.length, stray: stray.length };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  for (const { argv, holds, where } of leaks) process.stdout.write(`${argv}: ${holds.join(', ')} in ${where}\n`);
  for (const each of ours) process.stdout.write(`${each}\n`);
  expect({ leaks: leaks.slice(0, 20), ours: ours.slice(0, 20), stray }).toEqual({ leaks: [], ours: [], stray: [] });
});
