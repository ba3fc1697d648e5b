import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type {
  Client,
  FeedActorInput,
  FollowBulkInput,
  LeaderboardListAnswer,
  LeaderboardListInput,
  PositionCard,
  Profile,
} from 'sotra';
import type { Verification } from 'sotra/webhook';
import { expect, expectTypeOf, test } from 'vitest';
import type { AnswerOf, InputOf } from '../../../src/api/endpoint.ts';
import type { actor } from '../../../src/api/feed.ts';
import type { bulk } from '../../../src/api/follow.ts';
import type { list } from '../../../src/api/leaderboard.ts';
import type { LeaderboardAnswer } from '../../../src/api/leaderboard-answers.ts';
import type { Card } from '../../../src/api/position-answers.ts';
import type { Profile as OwnProfile } from '../../../src/api/profile-answers.ts';
import { temporaryFolder } from '../../support/harness.ts';
import { some } from '../../support/size.ts';

test('inputs and answers are those of the schemas', () => {
  expectTypeOf<InputOf<typeof list.params>>().toExtend<LeaderboardListInput>();
  expectTypeOf<InputOf<typeof actor.params>>().toExtend<FeedActorInput>();
  expectTypeOf<InputOf<typeof bulk.params>>().toExtend<FollowBulkInput>();
  expectTypeOf<LeaderboardListInput['limit']>().toEqualTypeOf<InputOf<typeof list.params>['limit']>();
  expectTypeOf<FeedActorInput['minTradeUsd']>().toEqualTypeOf<10 | 100 | 500 | 1000 | undefined>();
  expectTypeOf<AnswerOf<typeof list>>().toEqualTypeOf<LeaderboardAnswer>();
  expectTypeOf<LeaderboardAnswer>().toExtend<LeaderboardListAnswer>();
  expectTypeOf<OwnProfile>().toExtend<Profile>();
  expectTypeOf<Card>().toExtend<PositionCard>();
  expectTypeOf<PositionCard['metadata']['positionStats']['boughtUSD']>().toEqualTypeOf<number>();
});

test('methods take and give them, and lists of pages their items', () => {
  expectTypeOf<Client['leaderboard']['list']>().parameter(0).toEqualTypeOf<LeaderboardListInput | undefined>();
  expectTypeOf<ReturnType<Client['leaderboard']['list']>>().resolves.toEqualTypeOf<LeaderboardListAnswer>();
  expectTypeOf<Client['feed']['actor']>().parameter(0).toEqualTypeOf<FeedActorInput>();
  expectTypeOf<ReturnType<Client['feed']['actor']['all']>>().toEqualTypeOf<
    AsyncGenerator<PositionCard, void, undefined>
  >();
  expectTypeOf<Client['position']['get']>().not.toHaveProperty('all');
  // A chain that the document does not name may be one of a deployment.
  expectTypeOf<{ chains: ['bsc'] }>().toExtend<LeaderboardListInput>();
  // @ts-expect-error: a chain is a name
  expectTypeOf<{ chains: [56] }>().toExtend<LeaderboardListInput>();
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

test('the declarations are for readers: each method says what it does and asks, and nothing speaks of zod', () => {
  const text = readFileSync('dist/types/library/methods.d.ts', 'utf8');
  expect(text).toContain('/** How many traders: a whole number from 1 to 250; default: 50 (set by the service). */');
  expect(text).toContain('     * Traders ranked by realized PnL, best first.\n     * `GET /v2/leaderboard`\n');
  expect(text).not.toMatch(/\bzod\b|\bz\.|unknown\[\]/);
});
