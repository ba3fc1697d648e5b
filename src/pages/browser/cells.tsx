import { decodeBase58, isHashOrKey, isUuid, isWalletAddress } from '../../api/address.ts';
import { formatTime, shortAddress } from '../../lib/output/format.ts';
import type { ServedCell, ServedTable } from '../table.ts';
import type { PageError } from './page-api.ts';
import { useEffect, useState } from './preact.ts';
import { CopyButton, type Fact, Facts, seen, Text } from './text.tsx';

/** A moment in UTC; only its time if it is today. */
export function Moment({ atMs }: { atMs: number }) {
  const exact = formatTime(Math.floor(atMs / 1000));
  const isToday = exact.slice(0, 10) === new Date().toISOString().slice(0, 10);
  return (
    <time dateTime={exact.replace(' ', 'T')} title={exact}>
      {isToday ? exact.slice(11) : exact.slice(0, 16)}
    </time>
  );
}

/** The content of a cell: addresses, hashes and UUIDs can be copied, other text stays as it is. */
export function Cell({ cell }: { cell: ServedCell | undefined }) {
  const { text = '', value } = cell ?? {};
  if (typeof value === 'number') return <>{text}</>;
  const words = text.split(' ');
  if (!words.every(isId)) return <Text text={text} />;
  return words.map((word) => (
    <span key={word} class="id" title={seen(word)}>
      <CopyButton text={word} what={shortAddress(word)}>
        <Text text={shortAddress(word)} />
      </CopyButton>
    </span>
  ));
}

/** The columns of a view of one object, as the terminal shows it. */
export function Record({ table, omit = [] }: { table: ServedTable | undefined; omit?: readonly string[] }) {
  if (table === undefined) return null;
  const [cells = []] = table.rows;
  const shown = table.columns.map((column, index) => ({ ...column, cell: cells[index] }));
  const facts = shown
    .filter(({ key, extra }) => !extra && !omit.includes(key))
    .map(({ title, help, cell }): Fact => [title, <Cell cell={cell} />, cell?.tone, help]);
  return <Facts kind="counters" facts={facts} />;
}

/** Shown until an answer arrives. */
export function Loading({ label }: { label: string }) {
  return <div class="frame" role="status" aria-label={`${label}: loading`} />;
}

/** Why there is nothing, and a line that changes that. */
export function Empty({ text, line }: { text: string; line?: string | undefined }) {
  return (
    <div class="empty">
      <p>{text}</p>
      {line !== undefined && (
        <p>
          <Command line={line} />
        </p>
      )}
    </div>
  );
}

/** A line for the terminal. */
export function Command({ line }: { line: string }) {
  return (
    <>
      <Text as="code" text={line} /> <CopyButton text={line} what="Command" />
    </>
  );
}

/** Why there is no answer, what to do, and when it is tried again. */
export function ProblemNote({ error, again }: { error: PageError | null; again: () => void }) {
  if (error === null) return null;
  const { message, hint, retryAtMs } = error;
  return (
    <div class="problem" role="alert">
      <Text as="p" class="error" text={message} />
      {hint !== '' && <Text as="p" text={hint} />}
      {retryAtMs === undefined ? (
        <button type="button" onClick={again}>
          Try again
        </button>
      ) : (
        <CountDown key={retryAtMs} toMs={retryAtMs} />
      )}
    </div>
  );
}

function CountDown({ toMs }: { toMs: number }) {
  const [nowMs, setNow] = useState(Date.now);
  useEffect(() => {
    const tick = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(tick);
  }, []);
  const leftSec = Math.ceil((toMs - nowMs) / 1000);
  return <p role="timer">{leftSec > 0 ? `Retrying in ${leftSec} s.` : 'Retrying …'}</p>;
}

const isEvmHash = (text: string) => text.startsWith('0x') && isHashOrKey(text);
/** A signature, which is the id of a transaction of Solana. */
const isSolanaHash = (text: string) => /^.{64,90}$/.test(text) && decodeBase58(text)?.length === 64;

/** Whether a text is an address, a hash or a UUID. */
function isId(text: string): boolean {
  return [isWalletAddress, isEvmHash, isSolanaHash, isUuid].some((is) => is(text));
}
