import { expect, test } from 'vitest';
import { outlineAll } from '../../src/program.ts';
import { holdersUnder } from '../support/canaries.ts';
import { forgottenFlags, type Leak, runLine, strayIn, treeLines, ways } from '../support/canary-commands.ts';
import { canaryWorld, echoScripts } from '../support/canary-world.ts';
import { size } from '../support/size.ts';

test('no command, in any way of printing and against any echo, shows a secret or writes it down', async () => {
  expect(forgottenFlags()).toEqual([]);
  const world = await canaryWorld();
  const lines = treeLines();
  const leaks: Leak[] = [];
  const shown = new Set<string>();
  const loudest = '--verbose --include --trace-file @@.har';
  const once = async (line: (typeof lines)[number], way: string) => {
    const ran = await runLine(line, way, world);
    leaks.push(...ran.leaks);
    for (const secret of ran.shown) shown.add(`${line.command}: ${secret}`);
    expect([line.argv, way, ran.code]).not.toEqual([line.argv, way, 1]);
  };
  const echoes = Object.values(echoScripts);
  // These print a secret when asked to, and are always among the lines.
  const isTried = ({ command }: { command: string }, index: number) =>
    index % size(8, 1) === 0 || ['request', 'webhook list'].includes(command);
  for (const [index, line] of lines.entries()) {
    if (line.isSlow || !isTried(line, index)) continue;
    world.answerAs(world.healthy);
    // One way a line, in turn; each with each is for the proof.
    await once(line, ways[index % ways.length] ?? '');
    await once(line, loudest);
    world.answerAs(echoes[index % echoes.length] ?? world.healthy);
    await once(line, loudest);
  }
  expect(leaks).toEqual([]);
  // The canary sings where it is asked to: what finds nothing would find nothing anywhere.
  expect([...shown].sort()).toEqual(
    expect.arrayContaining(['request: webhook secret', 'webhook list: webhook secret']),
  );
  expect(strayIn(world)).toEqual([]);
  expect(holdersUnder(world.outputs).map(({ file }) => file)).toContain('config/config.json');
});

test('every command is among the lines', async () => {
  const commands = (await outlineAll()).map(({ words }) => words.join(' '));
  expect([...new Set(treeLines().map(({ command }) => command))].sort()).toEqual(commands.sort());
});
