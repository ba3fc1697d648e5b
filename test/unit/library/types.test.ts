import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Answer, Client, Input, Item } from 'sotra';
import type { Verification } from 'sotra/webhook';
import { expect, expectTypeOf, test } from 'vitest';
import type { AnswerOf, InputOf } from '../../../src/api/endpoint.ts';
import type { list } from '../../../src/api/leaderboard.ts';
import type { LeaderboardAnswer } from '../../../src/api/leaderboard-answers.ts';
import type { Card } from '../../../src/api/position-answers.ts';
import { temporaryFolder } from '../../support/harness.ts';
import { some } from '../../support/size.ts';

test('inputs and answers are those of the endpoints', () => {
  expectTypeOf<InputOf<typeof list.params>>().toExtend<Input<'leaderboard.list'>>();
  expectTypeOf<Input<'leaderboard.list'>['limit']>().toEqualTypeOf<number | undefined>();
  expectTypeOf<Input<'feed.actor'>['minTradeUsd']>().toEqualTypeOf<10 | 100 | 500 | 1000 | undefined>();
  expectTypeOf<AnswerOf<typeof list>>().toEqualTypeOf<LeaderboardAnswer>();
  expectTypeOf<LeaderboardAnswer>().toExtend<Answer<'leaderboard.list'>>();
  expectTypeOf<Card>().toExtend<Item<'feed.actor'>>();
  expectTypeOf<Item<'feed.actor'>['metadata']['positionStats']['boughtUSD']>().toEqualTypeOf<number>();
});

test('methods take and give them, and lists of pages their items', () => {
  expectTypeOf<Client['leaderboard']['list']>().parameter(0).toEqualTypeOf<Input<'leaderboard.list'> | undefined>();
  expectTypeOf<ReturnType<Client['leaderboard']['list']>>().resolves.toEqualTypeOf<Answer<'leaderboard.list'>>();
  expectTypeOf<Client['feed']['actor']>().parameter(0).toEqualTypeOf<Input<'feed.actor'>>();
  expectTypeOf<ReturnType<Client['feed']['actor']['all']>>().toEqualTypeOf<
    AsyncGenerator<Item<'feed.actor'>, void, undefined>
  >();
  expectTypeOf<Client['position']['get']>().not.toHaveProperty('all');
  // A chain that the document does not name may be one of a deployment.
  expectTypeOf<{ chains: readonly ['bsc'] }>().toExtend<Input<'leaderboard.list'>>();
  // @ts-expect-error: a chain is a name
  expectTypeOf<{ chains: [56] }>().toExtend<Input<'leaderboard.list'>>();
  expectTypeOf<Extract<Verification, { valid: false }>>().toEqualTypeOf<{ valid: false; reason: string }>();
});

const program = `
import { type Client, createClient, SotraError } from 'sotra';
import { startSandbox } from 'sotra/sandbox';
import { signComment, verifyComment } from 'sotra/signing';
import { verifyWebhook, webhookHandler } from 'sotra/webhook';
const client: Client = createClient({ baseUrl: 'https://api.example.com' });
export async function pnl(): Promise<number | null | undefined> {
  const { traders } = await client.leaderboard.list({ chains: ['base'] });
  for await (const { itemId } of client.feed.actor.all({ identifier: 'ext:1' })) itemId.toUpperCase();
  // @ts-expect-error: no such order
  await client.profile.positions({ identifier: 'ext:1', status: 'open', sort: 'name' });
  return traders[0]?.profile.metadata.pnl30d;
}
export { SotraError, signComment, startSandbox, verifyComment, verifyWebhook, webhookHandler };
`;

const settings = ['bundler', 'nodenext'].flatMap((moduleResolution) =>
  [false, true].flatMap((skipLibCheck) =>
    [
      { lib: ['es2023', 'dom'], types: [] },
      { lib: ['es2023'], types: ['node'] },
    ].map((world) => ({ moduleResolution, skipLibCheck, ...world })),
  ),
);

test.each(some(settings, 1))('a strict project compiles with %o', async (given) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules'));
  for (const name of ['@types', 'undici-types'])
    symlinkSync(join(process.cwd(), 'node_modules', name), join(folder, 'node_modules', name));
  symlinkSync(process.cwd(), join(folder, 'node_modules', 'sotra'));
  const module = given.moduleResolution === 'bundler' ? 'esnext' : 'nodenext';
  const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true };
  const compilerOptions = { ...strict, target: 'es2022', module, ...given };
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'use.ts'), program);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
  const told = await promisify(execFile)(process.execPath, ['node_modules/typescript/lib/tsc.js', '-p', folder]).catch(
    ({ stdout }: { stdout: string }) => ({ stdout }),
  );
  expect(told.stdout).toBe('');
});

test('the declarations import nothing that the package does not bring', () => {
  const files = readdirSync('dist/types', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const imports = files.flatMap((name) => [
    ...readFileSync(join('dist/types', name), 'utf8').matchAll(/(?:from|import\() ?['"]([^.'"][^'"]*)['"]/g),
  ]);
  expect(imports.map(([, from]) => from)).toEqual([]);
});
