import { formatAge, formatTime, shortAddress } from '../../output/format.ts';
import type { ServedCell, ServedTable } from '../table.ts';
import { findExplorerPage, isId } from './explorer.ts';
import { useFrame } from './frame.ts';
import { CopyButton, type Fact, Facts, seen, Text } from './text.tsx';

/** How long ago, by the clock of the service; the exact time when pointed at. */
export function Moment({ atSec }: { atSec: number }) {
  const { nowSec } = useFrame();
  const exact = formatTime(Math.floor(atSec));
  const age = nowSec === undefined ? exact : formatAge(atSec, nowSec);
  return (
    <time dateTime={exact.replace(' ', 'T')} title={exact}>
      {age === exact || age.startsWith('in ') ? age : `${age} ago`}
    </time>
  );
}

/** An address, a hash or a UUID: a click copies it, another opens its page in the explorer of the chain. */
export function Id({ text, chain }: { text: string; chain?: string | undefined }) {
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

/** What stands in a cell: a time as an age, each id to be copied, other text as it is. */
export function Cell({ cell, chain }: { cell: ServedCell | undefined; chain?: string | undefined }) {
  const { text = '', value } = cell ?? {};
  if (typeof value === 'number') return text === formatTime(value) ? <Moment atSec={value} /> : <>{text}</>;
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
  if (table === undefined) return <Skeleton label="Figures" />;
  const [cells = []] = table.rows;
  const shown = table.columns.map((column, index) => ({ ...column, cell: cells[index] }));
  const chain = String(shown.find(({ key }) => key === 'chain')?.cell?.value ?? '');
  const facts = shown
    .filter(({ key, extra }) => !extra && !omit.includes(key))
    .map(({ title, help, cell }): Fact => [title, <Cell cell={cell} chain={chain} />, cell?.tone, help]);
  return <Facts kind="counters record" facts={facts} />;
}

/** What stands in place of what has not come; nothing where it will not come, of which the page says why. */
export function Skeleton({ label, error = '' }: { label: string; error?: string | undefined }) {
  if (error !== '') return null;
  return (
    <div class="frame" role="status" aria-label={`${label}: loading`}>
      {Array.from({ length: 8 }, (_, index) => (
        <div key={index} />
      ))}
    </div>
  );
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
