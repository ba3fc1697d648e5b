import { hourMs } from '../../api/duration.ts';
import { isLoopback } from '../../api/http-address.ts';
import { safeText } from '../../api/safe-text.ts';
import { signedHeader } from '../../api/webhook-signature.ts';
import { hideUrlSecrets } from '../../client/secrets.ts';
import type { Context } from '../../context.ts';
import { errorExitCodes, readMessage, SotraError } from '../../errors.ts';
import { openOutput, readOwnSecrets } from '../../lib/files/source.ts';
import { confirm, confirmReplace } from '../../lib/output/confirm.ts';
import { counted } from '../../lib/output/format.ts';
import { showProgress } from '../../lib/output/progress.ts';
import type { Result } from '../../lib/output/view.ts';
import { type Db, openDb } from '../../sandbox/db/store.ts';
import { ensureWorld, sandboxPartners } from '../../sandbox/db/world.ts';
import { maxAnswerMs, sendDelivery } from '../../sandbox/deliver/deliver.ts';
import { eventParts, makeEvent } from '../../sandbox/deliver/events.ts';
import type { ExamInput } from './params.ts';
import { readEventSource } from './run-trigger.ts';
import { describeAnswer, type ExamRow } from './view.ts';

interface ExamCase extends Pick<ExamRow, 'case' | 'sent' | 'expected'> {
  /** Statuses that pass, and those that warn; all others fail, and so does no answer. */
  pass: RegExp;
  warn?: RegExp;
  /** A slower answer is a warning. */
  quickMs?: number;
  /** The body is sent in ten pieces, with this pause between two. */
  pauseMs?: number;
  /** The delivery of the case before is sent again. */
  again?: true;
  /** Sent instead of a new event. */
  body?: string;
  /** Fields of the event. */
  change?: object;
  /** How many newer events there are. */
  before?: number;
  /** How long ago it was signed. */
  ageMs?: number;
  /** The secret that signs it, if not the given one; `null`: it is not signed. */
  by?: string | null;
}

const taken = { pass: /^2/ };
const refused = { expected: '4xx, such as 401', pass: /^4/, warn: /^[35]/ };

/**
 * The service requires 2xx for a valid signature and another status for all else (wire-facts 3.18 and 4.2). It says nothing about age,
 * repeats, order and unknown types: there, an answer other than the recommended one is a warning.
 */
const cases: readonly ExamCase[] = [
  {
    case: 'good',
    sent: 'a signed event',
    expected: '2xx within 3 s; do slow work after the answer',
    ...taken,
    quickMs: 3000,
  },
  {
    case: 'repeat',
    sent: 'the same delivery again',
    expected: '2xx, but handled once: remember eventId',
    ...taken,
    warn: /^409/,
    again: true,
  },
  {
    case: 'out-of-order',
    sent: 'an event older than the last',
    expected: '2xx: the order is not guaranteed',
    ...taken,
    before: 1,
    ageMs: 1000,
  },
  { case: 'bad-signature', sent: 'an event signed with another secret', ...refused, by: 'another-secret' },
  { case: 'unsigned', sent: 'an event without a signature', ...refused, by: null },
  {
    case: 'stale',
    sent: 'an event signed an hour ago',
    ageMs: hourMs,
    pass: /^4/,
    warn: /^[235]/,
    expected: '4xx (recommended): anyone who saw it can replay it',
  },
  {
    case: 'unknown-type',
    sent: 'an event of an unknown type',
    ...taken,
    warn: /^4/,
    expected: '2xx (recommended): ignore it, types may be added',
    change: { eventType: 'exam-unknown-type' },
  },
  {
    case: 'empty',
    sent: 'an empty request',
    expected: '4xx, such as 400; 5xx is a crash',
    pass: /^4/,
    warn: /^3/,
    body: '',
    by: null,
  },
  {
    case: 'large',
    sent: 'a signed event of 5 MB',
    expected: '2xx, or 413 or another 4xx',
    pass: /^[24]/,
    change: { padding: 'x'.repeat(5 * 1024 * 1024) },
  },
  {
    case: 'slow',
    sent: 'a signed event over 3 s',
    expected: '2xx, or 408',
    pass: /^2|^408/,
    pauseMs: 334,
  },
];

/** Sends every case to an endpoint; exit 12 if one fails. Errors: `usage`, `local-file`; `network` if nothing answers. */
export async function examineEndpoint({ url, secretFile, junit }: ExamInput, context: Context): Promise<Result> {
  const { options } = context;
  const [secret = ''] = await readOwnSecrets([secretFile], context);
  const place = hideUrlSecrets(url);
  if (options.preview) {
    const answer = cases.map((each) => makeRow(each));
    return { kind: 'answer', answer, notes: [`Would be sent to ${place}.`] };
  }
  if (!isLoopback(new URL(url).hostname)) await confirm(`send ${cases.length} test deliveries to ${place}`, context);
  if (junit !== undefined) await confirmReplace('--junit', junit, context);
  const report = await openOutput('--junit', junit, [secretFile]);
  try {
    const rows = await sendCases({ url, secret }, context);
    await report?.writeFile(formatJunit(rows));
    const exitCode = rows.some(({ verdict }) => verdict === 'fail') ? errorExitCodes.verification : 0;
    return { kind: 'answer', answer: rows, exitCode, notes: describeRows(rows, secretFile) };
  } catch (thrown) {
    await report?.writeFile(formatJunit([], readMessage(thrown)));
    throw thrown;
  } finally {
    await report?.close();
  }
}

async function sendCases({ url, secret }: { url: string; secret: string }, context: Context): Promise<ExamRow[]> {
  const { now, sleep, signal } = context.io;
  const rows: ExamRow[] = [];
  const progress = await showProgress(context);
  const db = openDb(':memory:');
  try {
    ensureWorld(db, now(), 'demo');
    let last: ReturnType<typeof makeDelivery> | undefined;
    for (const each of cases) {
      if (progress.live) progress.step(`${each.case}: ${each.sent}`);
      const { pauseMs = 0, again } = each;
      const delivery = (again && last) ?? makeDelivery(each, { db, secret, nowMs: now() });
      last = delivery;
      const startMs = now();
      const outcome = await sendDelivery(url, delivery.body, delivery.signed, {
        answerMs: (context.options.typedTimeoutMs ?? maxAnswerMs) + 10 * pauseMs,
        signal,
        pause: pauseMs === 0 ? undefined : () => sleep(pauseMs, signal),
      });
      if (signal.aborted) throw new SotraError('interrupted', 'interrupted');
      if (outcome.unreached && rows.length === 0)
        throw new SotraError('network', `cannot connect to ${hideUrlSecrets(url)}: ${outcome.error}`, {
          hint: 'Start the endpoint, or correct the URL.',
        });
      rows.push(makeRow(each, { ...outcome, ms: now() - startMs }));
    }
  } finally {
    db.close();
    progress.stop();
  }
  return rows;
}

const audience = '0x0000000000000000000000000000000000000001';

/** A delivery with an event of the built-in data, as the sandbox sends it. */
function makeDelivery(
  { body: given, change, before, ageMs = 0, by }: ExamCase,
  { db, secret, nowMs }: { db: Db; secret: string; nowMs: number },
) {
  const source = readEventSource(db, { type: 'new-feed-item' }, before);
  const parts = eventParts(db, source, sandboxPartners[0], nowMs);
  const body = given ?? JSON.stringify({ events: [{ ...makeEvent(source.type, parts, [audience]), ...change }] });
  return { body, signed: by === null ? undefined : signedHeader(by ?? secret, body, nowMs - ageMs) };
}

type Answer = Pick<ExamRow, 'status' | 'error'> & { ms: number };

function makeRow({ case: name, sent, expected, pass, warn, quickMs }: ExamCase, answer?: Answer): ExamRow {
  const { status = null, ms = null } = answer ?? {};
  const isSlow = (ms ?? 0) > (quickMs ?? Number.POSITIVE_INFINITY);
  const isWarned = warn?.test(`${status}`) || (isSlow && pass.test(`${status}`));
  const verdict = isWarned ? 'warn' : pass.test(`${status}`) ? 'pass' : 'fail';
  const error = status === null ? (answer?.error ?? null) : null;
  return { case: name, sent, status, ms, error, expected, verdict: answer === undefined ? null : verdict };
}

/** A line for each case that did not pass, likely causes, and a line that counts them. */
function describeRows(rows: readonly ExamRow[], secretFile: string): string[] {
  const count = (verdict: ExamRow['verdict']) => rows.filter((row) => row.verdict === verdict).length;
  const others = rows.filter(({ verdict }) => verdict !== 'pass');
  const failed = others.find(({ verdict }) => verdict === 'fail');
  const next = failed ? ` Next: fix ${failed.case} (see sotra help webhooks), then run the same line again.` : '';
  const answered = (name: string, status: RegExp) => status.test(`${rows.find((row) => row.case === name)?.status}`);
  const causes = `another secret than in ${secretFile}, a body that is parsed before it is verified, hex instead of base64url`;
  return [
    ...others.map((row) => `${row.verdict} ${row.case}: ${describeAnswer(row)}; expected ${row.expected}`),
    ...(answered('good', /^40[013]/) ? [`Likely causes: ${causes}.`] : []),
    ...(answered('bad-signature', /^2/) ? ['Likely cause: the endpoint does not compare signatures.'] : []),
    `${count('pass')} passed, ${counted(count('warn'), 'warning')}, ${count('fail')} failed.${next}`,
  ];
}

/** The cases as JUnit XML; `problem` is why there are none. */
function formatJunit(rows: readonly ExamRow[], problem?: string): string {
  const tests = rows.map((row) => {
    const text = escapeXml(`${describeAnswer(row)}; expected ${row.expected}`);
    const result = {
      fail: `<failure message="${text}"/>`,
      warn: `<system-out>warning: ${text}</system-out>`,
      pass: '',
    };
    return formatTest(`${row.case}: ${row.sent}`, result[row.verdict ?? 'pass'], row.ms ?? 0);
  });
  if (problem !== undefined) tests.push(formatTest('endpoint', `<error message="${escapeXml(problem)}"/>`, 0));
  const failures = rows.filter(({ verdict }) => verdict === 'fail').length;
  const counts = `tests="${tests.length}" failures="${failures}" errors="${problem === undefined ? 0 : 1}"`;
  const suite = [`<testsuite name="webhook exam" ${counts}>`, ...tests, '</testsuite>'];
  return `${['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites>', ...suite, '</testsuites>'].join('\n')}\n`;
}

function formatTest(name: string, result: string, ms: number): string {
  return `<testcase classname="webhook exam" name="${escapeXml(name)}" time="${ms / 1000}">${result}</testcase>`;
}

function escapeXml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return safeText(text).replace(/[&<>"]/g, (mark) => entities[mark] ?? mark);
}
