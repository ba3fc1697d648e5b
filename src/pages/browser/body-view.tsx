import { toUnixSec } from '../../api/duration.ts';
import { isObject, tryParseJson } from '../../api/json.ts';
import { counted, formatCount, formatTime, formatUsd } from '../../lib/output/format.ts';
import { useMemo, useState } from './preact.ts';
import { Text } from './text.tsx';

/** A body as a tree and as text. */
export function BodyView({ base64, bytes }: { base64: string | null; bytes: number | null }) {
  const body = useMemo(() => (base64 === null ? undefined : decodeBase64(base64)), [base64]);
  const text = useMemo(() => (body === undefined ? '' : new TextDecoder().decode(body)), [body]);
  const value = useMemo(() => tryParseJson(text), [text]);
  const [form, setForm] = useState<'tree' | 'text'>('tree');
  if (body === undefined) return <p class="muted">The body was not kept.</p>;
  return (
    <>
      <fieldset class="choice" aria-label="Form of the body">
        {(['tree', 'text'] as const).map((each) => (
          <button key={each} type="button" aria-pressed={form === each} onClick={() => setForm(each)}>
            {each}
          </button>
        ))}
        <span class="muted">
          {formatCount(bytes)} bytes
          {body.length < (bytes ?? 0) ? `, the first ${formatCount(body.length)} are shown` : ''}
        </span>
      </fieldset>
      {form === 'tree' && value !== undefined && <Tree value={value} openTo={body.length > longBytes ? 2 : 4} />}
      {form === 'tree' && value === undefined && <p class="muted">Not valid JSON: see its text.</p>}
      {form === 'text' && <Lines lines={textLines(text)} />}
    </>
  );
}

function decodeBase64(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

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

/** A value as JSON, and its meaning if its name tells the unit. */
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

const linesAtOnce = 200;

function Lines({ lines }: { lines: readonly string[] }) {
  const [shown, setShown] = useState(linesAtOnce);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard must too */}
      <section class="lines" aria-label="Body as text" tabIndex={0}>
        {lines.slice(0, shown).map((line, index) => (
          <Text as="div" key={index} text={line} />
        ))}
      </section>
      {lines.length > shown && (
        <button type="button" onClick={() => setShown(shown + 10 * linesAtOnce)}>
          {counted(lines.length - shown, 'more line')}
        </button>
      )}
    </>
  );
}

/** Of at most 2,000 characters. Line ends stay visible as marks. */
function textLines(text: string): string[] {
  return text.split(/(?<=\n)/).flatMap((line) => line.match(/.{1,2000}/gsu) ?? []);
}
