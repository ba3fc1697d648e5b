import { expect, test } from 'vitest';
import { openDb, type SqlValue } from '../../../../src/sandbox/db/store.ts';
import { follow } from '../../../../src/sandbox/social/follows.ts';
import { findWallets } from '../../../../src/sandbox/social/lookup.ts';

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

test('wallets that are first seen in one request get ids side by side, and each the id it has', () => {
  const db = openDb(':memory:');
  const wallets = Array.from({ length: 500 }, (_, index) => `0x${String(index).padStart(40, 'a')}`);
  const ids = findWallets(db, wallets, null);
  expect(new Set(ids.values()).size).toBe(500);
  expect(new Set([...ids.values()].map((id) => id.slice(0, 8))).size).toBe(1);
  const between = db.all<{ n: number }>('SELECT count(*) AS n FROM wallet WHERE profile_id BETWEEN ? AND ?', [
    [...ids.values()].sort()[0] ?? '',
    [...ids.values()].sort()[499] ?? '',
  ]);
  expect(between).toEqual([{ n: 500 }]);
  expect([...findWallets(db, [...wallets, '0xbb'.padEnd(42, '0')], null)].slice(0, 500)).toEqual([...ids]);
  db.close();
});
