import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { seqsByIdStart, seqsOf } from '../../../../src/inbox/embedded/event-ids.ts';
import { filterOf, hashOf, mayHold } from '../../../../src/inbox/embedded/id-filter.ts';
import { keepStep } from '../../../../src/inbox/embedded/keep.ts';
import { openStore } from '../../../../src/inbox/embedded/store.ts';
import { writesOf } from '../../../../src/inbox/embedded/writes.ts';
import { temporaryFolder } from '../../../support/harness.ts';

/** The last number of the first segment. */
const last = 524_287;

const ids = (first: number, count: number) => Array.from({ length: count }, (_, index) => `event-${first + index}`);

function opened() {
  const folder = join(temporaryFolder(), 'store');
  let db = openStore(folder);
  let writes = writesOf(db);
  const add = (...deliveries: readonly string[][]) =>
    writes
      .commit([
        {
          deliveries: deliveries.map((eventIds) => ({
            ...{ webhook: '/#1', atMs: 1, eventIds, terms: [], headers: '[]', bodyBytes: 2 },
          })),
          bodies: Buffer.from('{}'.repeat(deliveries.length)),
          marks: [],
          refusals: [],
        },
      ])
      .flat()
      .map((each) => (each === null ? null : [each.seq, ...each.newIds]));
  return {
    add,
    /** The next delivery gets the number after it. */
    skipTo: (seq: number) => {
      db.run(
        'UPDATE event SET seq = ?1, segment = CAST(?1 / 524288 AS INTEGER) WHERE seq = (SELECT max(seq) FROM delivery)',
        [seq],
      );
      db.run('UPDATE delivery SET seq = ? WHERE seq = (SELECT max(seq) FROM delivery)', [seq]);
    },
    openAgain: () => {
      db.close();
      db = openStore(folder);
      writes = writesOf(db);
    },
    db: () => db,
    filters: () => db.all<{ segment: number }>('SELECT segment FROM event_filter').map(({ segment }) => segment),
  };
}

test('an id is stored once, whichever segment has it, and also after a restart', () => {
  const { add, skipTo, openAgain, filters } = opened();
  expect(add(['a', 'b'], ['b', 'c'], ['a'])).toEqual([[1, 'a', 'b'], [2, 'c'], null]);
  skipTo(last - 1);
  // The last of the first segment and the first of the next in one commit.
  expect(add(['d'], ['d', 'e'], ['c', 'f'])).toEqual([
    [last, 'd'],
    [last + 1, 'e'],
    [last + 2, 'f'],
  ]);
  expect(filters()).toEqual([0]);
  skipTo(2 * last + 1);
  openAgain();
  expect(add(['a'], ['d'], ['e'], ['f', 'g'], ['g'])).toEqual([null, null, null, [2 * last + 5, 'g'], null]);
  expect(filters()).toEqual([0, 1]);
  openAgain();
  expect(add(['a'], ['b'], ['c'], ['d'], ['e'], ['f'], ['g'])).toEqual(Array(7).fill(null));
});

test('ids of a commit that failed are new, also where it had begun a segment', () => {
  const { add, skipTo, db, filters } = opened();
  add(['a']);
  skipTo(last - 1);
  db().exec(
    `CREATE TRIGGER full BEFORE INSERT ON delivery WHEN new.seq = ${last + 2} BEGIN SELECT raise(ABORT, 'full'); END`,
  );
  expect(() => add(['b'], ['c'], ['d'])).toThrow('full');
  db().exec('DROP TRIGGER full');
  expect(filters()).toEqual([]);
  expect(add(['x'], ['b'], ['c'], ['x'], ['a'])).toEqual([[last, 'x'], [last + 1, 'b'], [last + 2, 'c'], null, null]);
  expect(add(['x'], ['b'], ['c'])).toEqual([null, null, null]);
});

test('ids are found by their starts and whole, in their order, in all segments', () => {
  const { add, skipTo, db } = opened();
  add(['ab2', 'ac'], ['aa']);
  skipTo(last);
  add(['ab1'], ['ab\u{ffff}'], ['ab\u{1f600}', 'b']);
  expect([...seqsByIdStart(db(), 'ab')]).toEqual([last + 1, 1, last + 2, last + 3]);
  expect([...seqsByIdStart(db(), 'a')]).toEqual([last, last + 1, 1, last + 2, last + 3]);
  expect([...seqsByIdStart(db(), 'c')]).toEqual([]);
  expect(seqsOf(db(), ['b', 'ac', 'ab2', 'none'])).toEqual([1, last + 3]);
  const many = ids(0, 700);
  add(...many.map((id) => [id]));
  expect([...seqsByIdStart(db(), 'event-')]).toEqual([...many].sort().map((id) => last + 4 + many.indexOf(id)));
});

test('what was removed may be stored again, and the filter of a segment without deliveries goes', () => {
  const { add, skipTo, db, filters } = opened();
  add(['a'], ['b']);
  skipTo(last);
  add(['c'], ['d']);
  expect(filters()).toEqual([0]);
  expect(keepStep(db(), { ms: 1000 }, 10_000, 0)).toEqual({ removed: 3, after: last + 1 });
  expect(filters()).toEqual([]);
  expect(add(['a'], ['b'], ['c'], ['d'])).toEqual([[last + 3, 'a'], [last + 4, 'b'], [last + 5, 'c'], null]);
});

test('a filter knows each of its ids, and takes few others for them', () => {
  const [known, others] = [[...ids(0, 20_000), 'Zo\u{eb}', ''], Array.from({ length: 20_000 }, () => randomUUID())];
  const filter = filterOf(known);
  expect(known.filter((id) => !mayHold(filter, hashOf(id)))).toEqual([]);
  expect(others.filter((id) => mayHold(filter, hashOf(id))).length).toBeLessThan(60);
  expect(ids(20_000, 20_000).filter((id) => mayHold(filter, hashOf(id))).length).toBeLessThan(60);
  expect(mayHold(filterOf([]), hashOf('a'))).toBe(false);
  for (let count = 0; count < 100; count += 1) {
    const few = filterOf(known.slice(0, count));
    expect(few.length).toBeGreaterThan(0);
    expect(known.slice(0, count).every((id) => mayHold(few, hashOf(id)))).toBe(true);
  }
  // Twice the same cannot be told apart: nothing is ruled out then.
  const none = filterOf(['a', 'a']);
  expect([none.length, mayHold(none, hashOf('a')), mayHold(none, hashOf('b'))]).toEqual([0, true, true]);
});

test('a segment of many ids is closed whole', () => {
  const { add, skipTo } = opened();
  const odd = ['', 'Zo\u{eb}', '\u{1f600}', 'a\u0000b', 'a\u0000c', '"\\n', '\ud800'];
  const many = [...odd, ...ids(0, 20_000)];
  add(many.slice(0, 10_000));
  skipTo(last - 1);
  expect(add(many, ['other'])).toEqual([
    [last, ...many.slice(10_000)],
    [last + 1, 'other'],
  ]);
  expect(add(many, ['other'])).toEqual([null, null]);
});
