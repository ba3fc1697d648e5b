import { expect, test } from 'vitest';
import { openDb, type SqlValue } from '../../../../src/sandbox/db/store.ts';
import { follow } from '../../../../src/sandbox/social/follows.ts';

test('to follow looks at the wallets of those who are followed, however many others are untracked', () => {
  const db = openDb(':memory:');
  const plans: unknown[] = [];
  const run = (sql: string, params: readonly SqlValue[] = []) => {
    plans.push(...db.all(`EXPLAIN QUERY PLAN ${sql}`, params).map(({ detail }) => detail));
    return db.run(sql, params);
  };
  follow({ ...db, run }, [['follower', 'target']], { partner: { id: 'a', suffix: '' }, nowMs: 0 });
  expect(plans).toContain('SEARCH wallet USING INDEX wallet_profile (profile_id=?)');
  expect(plans).not.toContain('SEARCH wallet USING INDEX wallet_ready (ready_ms=?)');
  db.close();
});
