import { expect, test } from 'vitest';
import { secretsIn } from '../support/canaries.ts';
import { strayIn } from '../support/canary-commands.ts';
import { listenOnce, liveWays } from '../support/canary-live.ts';
import { canaryWorld, echoScripts } from '../support/canary-world.ts';
import { scripts } from '../support/faults.ts';
import { run } from '../support/harness.ts';
import { long } from '../support/long.ts';
import { some } from '../support/size.ts';

const all = { ...echoScripts, ...scripts };
const faults = [
  'healthy',
  'echo 401',
  'echo 500',
  'echo that is no JSON',
  'echo in another shape',
  'echo cut in the key',
];
// Each way of printing with another answer.
const plan = some(
  faults.map((fault, index) => [liveWays[index] ?? '--verbose', fault] as const),
  2,
);

test('webhook listen shows no secret, writes none down and sends none on, whatever arrives and whoever takes it', async () => {
  const world = await canaryWorld();
  let name = '';
  for (const [way, fault] of plan) {
    const ran = await listenOnce(way, all[fault] ?? world.healthy, world);
    expect([way, fault, ran.leaks, ran.code, ran.err]).toEqual([way, fault, [], 0, expect.any(String)]);
    expect(ran.statuses).toEqual([200, 200, 200, 401, 401, 401, 200, 413, 405]);
    name = ran.name;
  }
  for (const argv of [
    `webhook events --name ${name} --json`,
    `webhook replay --name ${name} --since 1h --to ${world.service.url}/again --verbose`,
  ]) {
    world.answerAs(echoScripts['echo 400'] ?? world.healthy);
    const { out, err } = await run(argv, { env: world.env, skipWaits: true });
    expect([argv, secretsIn(out + err), out + err]).toEqual([argv, [], expect.stringContaining('copyswap')]);
  }
  expect(strayIn(world)).toEqual([]);
});

test('the secret itself in the place of its file is not repeated', async () => {
  const secret = 'whsec_Y2FuYXJ5LWhvb2stc2VjcmV0LTA4MTU';
  for (const argv of [
    `webhook listen --port 0 --secret-file ${secret}`,
    `webhook verify --header t=1,v1=x --secret-file ${secret}`,
    `webhook trigger new-feed-item --sandbox --to http://127.0.0.1:9 --secret-file=${secret}`,
    `webhook listen --port 0 --secret-file /dev/null --forward-to ${secret}`,
  ]) {
    const { code, err } = await run(`${argv} --json`, { stdin: '{}' });
    expect([argv, code > 0, err.includes('Y2FuYXJ5')]).toEqual([argv, true, false]);
  }
});

long('the password in an address that deliveries are sent on to is not shown', async () => {
  const world = await canaryWorld();
  const to = `${world.service.url.replace('//', '//me:hunter2@')}/hook`;
  for (const script of [scripts['reset before answer'], echoScripts['echo 400']]) {
    const ran = await listenOnce(`--verbose --forward-to ${to}`, script ?? world.healthy, world);
    expect([ran.code, ran.out + ran.err]).toEqual([0, expect.not.stringContaining('hunter2')]);
    expect(ran.err).toContain('//***@127.0.0.1');
  }
  for (const more of [`--forward-to ${to}`, `--route x=ftp://me:hunter2@host/`]) {
    const argv = `webhook listen --port 0 --secret-file ${world.input('hook.secret')} --forward-to ${to} ${more}`;
    const { code, err } = await run(argv, { env: world.env });
    expect([argv, code, err.includes('***@'), err.includes('hunter2')]).toEqual([argv, 2, true, false]);
  }
});
