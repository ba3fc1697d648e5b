import { useMemo, useState } from 'preact/hooks';
import { toUnixSec } from '../../api/duration.ts';
import { isObject, tryParseJson } from '../../api/json.ts';
import { formatCount, formatTime, formatUsd } from '../../lib/output/format.ts';
import { Text } from './text.tsx';

/** A body as a tree and as text. */
export function BodyView({ base64, bytes }: { base64: string | null; bytes: number | null }) {
  const body = useMemo(() => (base64 === null ? undefined : decodeBase64(base64)), [base64]);
  const text = useMemo(() => (body === undefined ? '' : new TextDecoder().decode(body)), [body]);
  const value = useMemo(() => tryParseJson(text), [text]);
  const [chosen, choose] = useState<'tree' | 'text'>('tree');
  const form = value === undefined ? 'text' : chosen;
  const lines = useMemo(() => (form === 'text' ? text.split(/(?<=\n)/) : []), [form, text]);
  if (body === undefined) return <p class="muted">The body was not kept.</p>;
  return (
    <>
      <fieldset class="choice" aria-label="Body format">
        {value !== undefined &&
          (['tree', 'text'] as const).map((each) => (
            <button key={each} type="button" aria-pressed={form === each} onClick={() => choose(each)}>
              {each}
            </button>
          ))}
        <span class="muted">
          {formatCount(bytes)} bytes
          {body.length < (bytes ?? 0) ? `, the first ${formatCount(body.length)} are shown` : ''}
        </span>
      </fieldset>
      {form === 'tree' && <Tree value={value} openTo={body.length > longBytes ? 2 : 4} />}
      {form === 'text' && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard must too
        <section class="lines" aria-label="Body as text" tabIndex={0}>
          {lines.slice(0, maxLines).map((line, index) => (
            <Text as="div" key={index} text={line} />
          ))}
          {lines.length > maxLines && (
            <div class="muted">{formatCount(lines.length - maxLines)} more lines are not shown.</div>
          )}
        </section>
      )}
    </>
  );
}

function decodeBase64(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** Lines of a body that are shown as text. */
const maxLines = 2000;

/** Members of an array or object that are shown at first. */
const maxMembers = 100;

/** Of longer bodies fewer levels are open at first. */
const longBytes = 1000;

interface TreeProps {
  value: unknown;
  name?: string;
  /** Deeper levels are closed at first. */
  openTo: number;
}

function Tree({ value, name, openTo }: TreeProps) {
  const isTree = Array.isArray(value) || isObject(value);
  const [open, setOpen] = useState(openTo > 0);
  const [shown, setShown] = useState(maxMembers);
  const label =
    name === undefined ? null : (
      <span class="key">
        <Text text={name} />:{' '}
      </span>
    );
  if (!isTree)
    return (
      <div class="leaf">
        {label}
        <Leaf name={name} value={value} />
      </div>
    );
  const members = Object.entries(value as object);
  const size = Array.isArray(value) ? `[${members.length}]` : `{${members.length}}`;
  return (
    <details class="tree" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {label}
        <span class="muted">{size}</span>
      </summary>
      {open &&
        members.slice(0, shown).map(([key, each]) => <Tree key={key} name={key} value={each} openTo={openTo - 1} />)}
      {open && members.length > shown && (
        <button type="button" onClick={() => setShown(shown + 10 * maxMembers)}>
          {formatCount(members.length - shown)} more
        </button>
      )}
    </details>
  );
}

/** A value as JSON, and formatted if its name implies a unit. */
function Leaf({ name = '', value }: { name?: string | undefined; value: unknown }) {
  if (typeof value === 'string')
    return (
      <span class="string">
        "<Text text={value} />"
      </span>
    );
  const means =
    typeof value !== 'number'
      ? ''
      : /usd|price|value|pnl/i.test(name)
        ? formatUsd(value)
        : /(?:timestamp|time|At)$/i.test(name) && toUnixSec(value) > 1e9 && toUnixSec(value) < 1e10
          ? formatTime(value)
          : '';
  return (
    <>
      <span class="number">{String(value)}</span>
      {means !== '' && <span class="muted"> {means}</span>}
    </>
  );
}
