import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';

// Runs the program many times in one process, command lines in turn, so that tens of thousands of answers are shown in minutes and what one
// run leaves behind is met by the next. Argument: the program. Message: `{ commands, count }`; tells `{ codes, cpuSec, longestSec }` when it is done.
const [, , program = ''] = process.argv;
const require = createRequire(import.meta.url);
// The program takes its key out of the environment.
const env = { ...process.env };
const main = join(program, '..', '..', 'dist', 'main.cjs');

process.once('message', async ({ commands, count }) => {
  const codes = {};
  let longestSec = 0;
  const start = process.cpuUsage();
  for (let index = 0; index < count; index += 1) {
    const command = commands[index % commands.length];
    process.argv = [process.execPath, program, ...command.split(' ').filter((word) => word !== '')];
    process.exitCode = undefined;
    Object.assign(process.env, env);
    delete require.cache[main];
    const before = process.cpuUsage();
    require(main);
    while (process.exitCode === undefined) await turn();
    const { user, system } = process.cpuUsage(before);
    longestSec = Math.max(longestSec, (user + system) / 1e6);
    codes[process.exitCode] = (codes[process.exitCode] ?? 0) + 1;
    if (process.exitCode === 1) process.stderr.write(`internal error of: ${command}, run ${index}\n`);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal);
    for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error');
  }
  process.exitCode = 0;
  const { user, system } = process.cpuUsage(start);
  process.send({ codes, cpuSec: (user + system) / 1e6, longestSec });
  process.disconnect();
});
