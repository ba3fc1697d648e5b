import { expect, test } from 'vitest';
import { holdersUnder } from '../canaries.ts';
import { holders, type Leak, runLine, treeLines, ways } from '../canary-commands.ts';
import { canaryWorld, echoScripts } from '../canary-world.ts';
import { scripts } from '../faults.ts';

test('every line of every command, in every way of printing, against every fault and echo', async () => {
  const world = await canaryWorld();
  const leaks: Leak[] = [];
  const codes: Record<number, number> = {};
  const faults = Object.entries({ healthy: world.healthy, ...echoScripts, ...scripts });
  const lines = treeLines();
  let runs = 0;
  for (const line of lines) {
    // A line that sends nothing is the same against every fault.
    let sends = true;
    for (const [fault, script] of faults) {
      if (!sends || (line.isSlow && fault !== 'healthy' && !fault.startsWith('echo 4'))) continue;
      world.answerAs(script);
      const before = world.service.requests.length;
      for (const way of line.isSlow ? ways.slice(0, 2) : ways) {
        const ran = await runLine(line, way, world);
        runs += 1;
        codes[ran.code] = (codes[ran.code] ?? 0) + 1;
        leaks.push(...ran.leaks.map((leak) => ({ ...leak, argv: `${leak.argv} (${fault})` })));
      }
      sends = world.service.requests.length > before;
    }
  }
  const stray = holdersUnder(world.outputs).filter(
    ({ file, holds, mode }) =>
      mode !== 0o600 || !holds.every((secret) => holders.some((each) => each.file.test(file) && each.holds === secret)),
  );
  const figures = { lines: lines.length, ways: ways.length, faults: faults.length, runs, codes };
  process.stdout.write(`${JSON.stringify({ ...figures, leaks: leaks.length, stray: stray.length })}\n`);
  expect({ leaks: leaks.slice(0, 20), stray }).toEqual({ leaks: [], stray: [] });
}, 7_200_000);
