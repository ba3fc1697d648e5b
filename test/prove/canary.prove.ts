import { expect, test } from 'vitest';
import { holdersUnder } from '../canaries.ts';
import { holders, type Leak, runLine, treeLines, ways } from '../canary-commands.ts';
import { canaryWorld, echoScripts } from '../canary-world.ts';
import { scripts } from '../faults.ts';

/** CANARY_FAULTS: only those whose name holds this. */
const wanted = process.env['CANARY_FAULTS'] ?? '';

test('every line of every command, in every way of printing, against every fault and echo', async () => {
  const world = await canaryWorld();
  const leaks: Leak[] = [];
  const ours: string[] = [];
  const codes: Record<number, number> = {};
  const faults = Object.entries({ healthy: world.healthy, ...echoScripts, ...scripts });
  const lines = treeLines();
  const started = performance.now();
  let cells = 0;
  for (const line of lines) {
    // A line that sends nothing is the same against every fault.
    let sends = true;
    for (const [fault, script] of faults) {
      if (!sends || (line.isSlow && fault !== 'healthy' && !fault.startsWith('echo 4'))) continue;
      if (fault !== 'healthy' && !fault.includes(wanted)) continue;
      world.answerAs(script);
      const before = world.service.requests.length;
      for (const way of line.isSlow ? ways.slice(0, 2) : ways) {
        const ran = await runLine(line, way, world, fault);
        cells += 1;
        codes[ran.code] = (codes[ran.code] ?? 0) + 1;
        if (ran.code === 1) ours.push(`${line.argv} ${way} (${fault}): ${ran.err.slice(0, 300)}`);
        leaks.push(...ran.leaks.map((leak) => ({ ...leak, argv: `${leak.argv} (${fault})` })));
      }
      sends = world.service.requests.length > before;
    }
  }
  const stray = holdersUnder(world.outputs).filter(
    ({ file, holds, mode }) =>
      mode !== 0o600 || !holds.every((secret) => holders.some((each) => each.file.test(file) && each.holds === secret)),
  );
  const product = { lines: lines.length, ways: ways.length, faults: faults.length, cells };
  const seconds = Math.round((performance.now() - started) / 1000);
  const figures = { ...product, seconds, codes, leaks: leaks.length, ours: ours.length, stray: stray.length };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  for (const { argv, holds, where } of leaks) process.stdout.write(`${argv}: ${holds.join(', ')} in ${where}\n`);
  for (const each of ours) process.stdout.write(`${each}\n`);
  expect({ leaks: leaks.slice(0, 20), ours: ours.slice(0, 20), stray }).toEqual({ leaks: [], ours: [], stray: [] });
}, 7_200_000);
