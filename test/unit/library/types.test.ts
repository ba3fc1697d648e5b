import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer, Client, Input, Item } from 'sotra';
import type { Verification } from 'sotra/webhook';
import { expect, expectTypeOf, test } from 'vitest';
import type { Card, LeaderboardAnswer } from '../../../src/api/answers.ts';
import type { AnswerOf, InputOf } from '../../../src/api/endpoint.ts';
import type { list } from '../../../src/api/leaderboard.ts';

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

test('the declarations import nothing that the package does not bring', () => {
  const files = readdirSync('dist/types', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const imports = files.flatMap((name) => [
    ...readFileSync(join('dist/types', name), 'utf8').matchAll(/(?:from|import\() ?['"]([^.'"][^'"]*)['"]/g),
  ]);
  expect(imports.map(([, from]) => from)).toEqual([]);
});
