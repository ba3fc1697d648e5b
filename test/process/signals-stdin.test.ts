import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { stub, temporaryFolder } from '../support/harness.ts';
import { some } from '../support/size.ts';
import { degen, writeKeys } from '../support/traders.ts';
import { until } from '../support/until.ts';
import { start } from '../support/webhook-kills.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Commands that read stdin, what they are given before the signal, and what shows that they have begun. */
const reading: [string, string, string][] = [
  ['--sandbox sandbox import - --chain base', 'time,trader,token,side,amount,usd\n', 'stdin-'],
  ['webhook register --url http://127.0.0.1:9/hook --file -', `${degen}\n`, 'webhook'],
];

test.each(
  some(
    reading.flatMap(([argv, text, begun]) => signals.map((signal) => [argv, signal, text, begun] as const)),
    3,
  ),
)(
  '%s: in the middle of its stdin %s ends it with 130, nothing sent, nothing left',
  async (argv, signal, text, begun) => {
    const service = await stub((_, response) => response.end('[]'));
    const folder = temporaryFolder();
    writeKeys(folder);
    const data = join(folder, 'data');
    const env = { ...service.env, SOTRA_DATA_DIR: data, SOTRA_CONFIG_DIR: join(folder, 'config') };
    const { child, printed, ended } = start(argv.split(' '), env);
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stdin.write(text);
    const isReading = () => existsSync(data) && readdirSync(data).some((name) => name.startsWith(begun));
    await until(isReading, 'it reads');
    child.kill(signal);
    expect(await ended).toBe(130);
    expect(printed).toMatchObject({ out: '', err: expect.stringContaining('interrupted') });
    expect(printed.err).not.toContain('internal error');
    expect(service.requests).toEqual([]);
    const left = existsSync(data) ? readdirSync(data, { recursive: true, encoding: 'utf8' }) : [];
    expect(left.filter((name) => /stdin-|draft-|tmp$|lock$/.test(name))).toEqual([]);
  },
);
