import { useQuery } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatCount, formatTime } from '../../lib/output/format.ts';
import type { ActivityDetail, ActivityRow, SendOutcome, ShownMessage } from '../activity.ts';
import { BodyView } from './body-view.tsx';
import { ActForm, EditForm, Outcome } from './form.tsx';
import { postJson } from './page-api.ts';
import { type Route, writeHref } from './route.ts';
import { AnswerNote, CodeLine, CopyButton, Facts, Text } from './text.tsx';

interface PanelProps {
  label: string;
  /** Where closing it leads. */
  closeHref: string;
  bar?: ComponentChildren;
  children: ComponentChildren;
}

/** The open item, beside the list; on a narrow screen above it. */
export function Panel({ label, closeHref, bar, children }: PanelProps) {
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    // Walking through the rows by keys stays in the list.
    if (!document.activeElement?.matches('.row:not([aria-current])')) box.current?.focus({ preventScroll: true });
    findElement('.row[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, []);
  const returnFocus = () => findElement('.row[aria-current]')?.focus({ preventScroll: true });
  return (
    <article class="detail" ref={box} tabIndex={-1} aria-label={label}>
      <div class="bar">
        {bar}
        <CopyButton text={location.href} caption="Copy link" />
        <a class="close" href={closeHref} onClick={returnFocus} aria-label="Close">
          ✕
        </a>
      </div>
      {children}
    </article>
  );
}

/** A row with its own address: why it failed, what was sent and answered, what caused it and what followed. */
export function DetailPanel({ id, route }: { id: string; route: Route }) {
  const { query } = route;
  const answer = useQuery<ActivityDetail>({ queryKey: ['show', { id }] });
  const { data } = answer;
  /** What the form changes, and the ids of the rows that it is shown beside: its own and those that sending led to. */
  const [edited, edit] = useState<{ detail: ActivityDetail; ids: readonly string[] }>();
  const form = edited?.ids.includes(id) ? edited.detail : undefined;
  const send = async (from: ActivityDetail, changes: object) => {
    const outcome = await postJson<SendOutcome>('ui/send', { id: from.row.id, ...changes });
    const { id: sentId } = outcome;
    if (sentId !== null) {
      edit((now) => now && { ...now, ids: [...now.ids, sentId] });
      location.hash = writeHref('activity', [sentId], query);
    }
    return <Outcome outcome={outcome} />;
  };
  const method = data?.form?.kind === 'request' ? data.form.method : 'POST';
  const bar = data && (
    <>
      {data.form !== undefined && (
        <ActForm
          key={id}
          button="Send again"
          question={method === 'GET' ? undefined : `This sends ${method} again.`}
          onAct={() => send(data, {})}
          more={
            <button type="button" onClick={() => edit(form ? undefined : { detail: data, ids: [id] })}>
              Edit
            </button>
          }
        />
      )}
      <CopyButton text={data.curl} caption="Copy as curl" />
      <CopyButton text={data.command} caption="Copy as command" />
    </>
  );
  return (
    <Panel label="Detail" closeHref={writeHref('activity', [], query)} bar={bar}>
      <AnswerNote label="Detail" answers={[answer]} />
      {form !== undefined && <EditForm detail={form} onSend={(changes) => send(form, changes)} />}
      {data !== undefined && <Detail detail={data} query={query} />}
    </Panel>
  );
}

function Detail({ detail, query }: { detail: ActivityDetail; query: Route['query'] }) {
  const { row, error, facts, response, request, verification, chain } = detail;
  return (
    <>
      <h2>
        <Status row={row} /> <Text text={row.title} />
      </h2>
      <p class="muted">
        <Moment atMs={row.atMs} />
        {row.durationMs !== undefined && `, ${formatCount(row.durationMs)} ms`}
      </p>
      {error !== undefined && (
        <div class="problem">
          <Text as="p" class="error" text={error.message} />
          {error.hints.map((hint) => (
            <p key={hint}>{hint.startsWith('sotra ') ? <CodeLine text={hint} /> : <Text text={hint} />}</p>
          ))}
        </div>
      )}
      <Facts kind="facts" facts={facts} />
      {response !== undefined && <Message name="Response" message={response} />}
      {verification !== undefined && (
        <>
          <h3>Verification</h3>
          <ol class="steps">
            {verification.map(({ name, text, ok }) => (
              <li key={name + text} class={ok === undefined ? undefined : ok ? 'ok' : 'failed'}>
                <span class="name">
                  {name}
                  {ok !== undefined && <span class="hidden">{ok ? ', valid' : ', not valid'}</span>}
                </span>{' '}
                <Text text={text} />
              </li>
            ))}
          </ol>
        </>
      )}
      {request !== undefined && <Message name="Request" message={request} />}
      <Chain name="Caused by" rows={chain.before} query={query} />
      <Chain name="What followed" rows={chain.after} query={query} />
    </>
  );
}

function Chain({ name, rows, query }: { name: string; rows: readonly ActivityRow[]; query: Route['query'] }) {
  if (rows.length === 0) return null;
  return (
    <>
      <h3>{name}</h3>
      <Rows label={name} rows={rows} query={query} />
    </>
  );
}

function Message({ name, message }: { name: string; message: ShownMessage | null }) {
  return (
    <>
      <h3>{name}</h3>
      {message === null && <p class="muted">No response.</p>}
      {message?.bodyBytes === 0 && <p class="muted">No body.</p>}
      {message !== null && message.bodyBytes !== 0 && <BodyView base64={message.body} bytes={message.bodyBytes} />}
      {message !== null && message.headers.length > 0 && (
        <details class="fold">
          <summary>{`${name} headers`}</summary>
          <Facts kind="headers" facts={message.headers.map((each) => [each.name, each.value])} />
        </details>
      )}
    </>
  );
}

interface RowsProps {
  label: string;
  rows: readonly ActivityRow[];
  /** The query of the page: links keep its filters. */
  query: Route['query'];
  selected?: string | undefined;
  /** Rows that came since the page was loaded. */
  fresh?: ReadonlyMap<string, ActivityRow>;
}

/** Rows of activity, each a link that opens it. */
export function Rows({ label, rows, query, selected, fresh }: RowsProps) {
  return (
    <ol class="rows" aria-label={label}>
      {rows.map((row) => (
        <li key={row.id}>
          <a
            class={fresh?.has(row.id) ? 'row fresh' : 'row'}
            href={writeHref('activity', [row.id], query)}
            aria-current={row.id === selected ? 'true' : undefined}
          >
            <Status row={row} />
            <Text as="span" class="title" text={row.title} />
            <Moment atMs={row.atMs} />
            <span class="kind">
              {row.kind} {row.number}
            </span>
            <Text as="span" class={row.failed ? 'about error' : 'about'} text={row.about} />
            <span class="took">{row.durationMs === undefined ? '' : `${formatCount(row.durationMs)} ms`}</span>
          </a>
        </li>
      ))}
    </ol>
  );
}

function Status({ row: { status, failed, waiting } }: { row: ActivityRow }) {
  const tone = failed ? 'refused' : waiting ? 'waiting' : 'forwarded';
  return <Text as="span" class={`status ${tone}`} text={status} />;
}

/** A moment in UTC; only its time if it is today. */
function Moment({ atMs }: { atMs: number }) {
  const exact = formatTime(Math.floor(atMs / 1000));
  const isToday = exact.slice(0, 10) === new Date().toISOString().slice(0, 10);
  return (
    <time dateTime={exact.replace(' ', 'T')} title={exact}>
      {isToday ? exact.slice(11) : exact.slice(0, 16)}
    </time>
  );
}

export const findElement = (selector: string) => document.querySelector<HTMLElement>(selector);
