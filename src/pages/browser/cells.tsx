import { decodeBase58, isHashOrKey, isUuid, isWalletAddress } from '../../api/address.ts';
import { formatTime, shortAddress } from '../../lib/output/format.ts';
import type { ServedCell, ServedTable } from '../table.ts';
import type { PageError } from './page-api.ts';
import { useEffect, useState } from './preact.ts';
import { CopyButton, type Fact, Facts, seen, Text } from './text.tsx';

/** A moment in UTC; of today its time alone. */
export function Moment({ atMs }: { atMs: number }) {
  const exact = formatTime(Math.floor(atMs / 1000));
  const isToday = exact.slice(0, 10) === new Date().toISOString().slice(0, 10);
  return (
    <time dateTime={exact.replace(' ', 'T')} title={exact}>
      {isToday ? exact.slice(11) : exact.slice(0, 16)}
    </time>
  );
}

/** An address, a hash or a UUID: a click copies it, another opens its page in the explorer of the chain. */
function Id({ text, chain }: { text: string; chain?: string | undefined }) {
  const href = findExplorerPage(text, chain);
  return (
    <span class="id" title={seen(text)}>
      <CopyButton text={text} what={shortAddress(text)}>
        <Text text={shortAddress(text)} />
      </CopyButton>
      {href !== undefined && (
        <a href={href} target="_blank" rel="noreferrer" aria-label={`${shortAddress(text)} at ${new URL(href).host}`}>
          ↗
        </a>
      )}
    </span>
  );
}

/** The content of a cell: ids can be copied, other text stays as it is. */
export function Cell({ cell, chain }: { cell: ServedCell | undefined; chain?: string | undefined }) {
  const { text = '', value } = cell ?? {};
  if (typeof value === 'number') return <>{text}</>;
  const words = text.split(' ');
  if (!words.every(isId)) return <Text text={text} />;
  return (
    <>
      {words.map((each) => (
        <Id key={each} text={each} chain={chain} />
      ))}
    </>
  );
}

/** The columns of a view of one object, as the terminal shows it. */
export function Record({ table, omit = [] }: { table: ServedTable | undefined; omit?: readonly string[] }) {
  if (table === undefined) return null;
  const [cells = []] = table.rows;
  const shown = table.columns.map((column, index) => ({ ...column, cell: cells[index] }));
  const chain = String(shown.find(({ key }) => key === 'chain')?.cell?.value ?? '');
  const facts = shown
    .filter(({ key, extra }) => !extra && !omit.includes(key))
    .map(({ title, help, cell }): Fact => [title, <Cell cell={cell} chain={chain} />, cell?.tone, help]);
  return <Facts kind="counters" facts={facts} />;
}

/** While an answer is on its way. */
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
          <Text as="code" text={line} /> <CopyButton text={line} what="Command" />
        </p>
      )}
    </div>
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

/** Where the explorer of a chain shows an address, a token or a transaction. */
const explorers: Readonly<Record<string, string>> = {
  ethereum: 'https://etherscan.io',
  optimism: 'https://optimistic.etherscan.io',
  polygon: 'https://polygonscan.com',
  arbitrum: 'https://arbiscan.io',
  zora: 'https://explorer.zora.energy',
  base: 'https://basescan.org',
  zero: 'https://explorer.zero.network',
  solana: 'https://solscan.io',
  hyperliquid: 'https://app.hyperliquid.xyz/explorer',
};

/** Of a wallet whose chain is not known: it is the same on all chains of its kind. */
const manyChains = 'https://blockscan.com';

const isEvmHash = (text: string) => text.startsWith('0x') && isHashOrKey(text);
/** A signature, which is the id of a transaction of Solana. */
const isSolanaHash = (text: string) => /^.{64,90}$/.test(text) && decodeBase58(text)?.length === 64;

/** Whether a text is an address, a hash or a UUID. */
function isId(text: string): boolean {
  return [isWalletAddress, isEvmHash, isSolanaHash, isUuid].some((is) => is(text));
}

/** The page of an address or a transaction; `undefined` for other text. */
function findExplorerPage(text: string, chain: string | undefined): string | undefined {
  const isHash = isEvmHash(text) || isSolanaHash(text);
  if (!isHash && !isWalletAddress(text)) return undefined;
  const isSolana = !text.startsWith('0x');
  const known = Object.hasOwn(explorers, chain ?? '') ? explorers[chain ?? ''] : undefined;
  const site = isSolana ? explorers['solana'] : (known ?? (isHash ? undefined : manyChains));
  if (site === undefined) return undefined;
  return `${site}/${isHash ? 'tx' : isSolana ? 'account' : 'address'}/${text}`;
}
