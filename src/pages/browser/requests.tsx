import { formatCount } from '../../output/format.ts';
import type { RequestRow } from '../requests.ts';
import { FilterBar, Inspector, ListBox } from './inspector.tsx';
import { useMemo, useState } from './preact.ts';
import { RequestDetail } from './request-detail.tsx';
import { Row, Text } from './text.tsx';

const noFilters = { text: '', path: '', status: '' };
const fields = [
  ['text', 'Text', 'error, key, name'],
  ['path', 'Path', '/v2/leaderboard'],
  ['status', 'Status', ['failed', '2xx', '4xx', '5xx']],
] as const;

interface RequestsProps {
  /** The newest first. */
  requests: readonly RequestRow[] | undefined;
  /** The number of the one that is opened first. */
  first: string | undefined;
  /** How command lines for this sandbox begin. */
  start: string;
}

/** What programs asked the sandbox: why it was refused, names without effect, and faults that were injected. */
export function Requests({ requests, first, start }: RequestsProps) {
  const [filters, setFilters] = useState(noFilters);
  const shown = useMemo(() => requests?.filter((row) => fits(row, filters)), [requests, filters]);
  return (
    <Inspector
      tabs={[
        {
          kind: 'request',
          title: 'Requests',
          filters: <FilterBar fields={fields} values={filters} onChange={setFilters} />,
          list: (props) => (
            <ListBox
              {...props}
              label="Requests"
              items={shown}
              keyOf={({ number }) => String(number)}
              render={renderRequest}
              empty={
                requests?.length === 0
                  ? 'None since it was started; those of this page are not counted.'
                  : 'Nothing fits these filters.'
              }
            />
          ),
        },
      ]}
      first={first === undefined ? undefined : { kind: 'request', key: first }}
      error=""
      commands={[{ name: 'Command', line: `${start} sandbox log` }]}
      chooser="Choose a request: click, or arrow keys in the list."
      detail={({ key }, choose) => (
        <RequestDetail
          key={key}
          number={key}
          others={requests ?? []}
          onSent={(number) => choose({ kind: 'request', key: String(number) })}
        />
      )}
    />
  );
}

function fits(
  { status, method, path, error, ignored, fault = '', key, partner }: RequestRow,
  wanted: typeof noFilters,
) {
  const hasFailed = status >= 400 || error !== null;
  const hasStatus =
    wanted.status === '' || (wanted.status === 'failed' ? hasFailed : wanted.status[0] === String(status)[0]);
  const text = [status, method, path, error, ...ignored, fault, key, partner].join(' ').toLowerCase();
  return hasStatus && path.includes(wanted.path.trim()) && text.includes(wanted.text.trim().toLowerCase());
}

function sayKey({ key, partner }: RequestRow): string {
  return key === null ? 'no key' : `${partner === null ? 'unknown key' : `key ${partner}`} ${key}`;
}

function renderRequest(row: RequestRow) {
  const { time, method, path, status, ms, error, ignored, fault } = row;
  return (
    <Row
      before={<span class={`status ${status < 400 && error === null ? 'forwarded' : 'refused'}`}>{status}</span>}
      title={`${method} ${path}`}
      after={<time>{`${time.slice(11, 19)}Z`}</time>}
      about={
        <>
          {error !== null && (
            <span class="error">
              <Text text={error} />,{' '}
            </span>
          )}
          {formatCount(ms)} ms, {sayKey(row)}
          {ignored.length > 0 && (
            <span class="waiting">
              , ignored: <Text text={ignored.join(', ')} />
            </span>
          )}
          {fault !== undefined && (
            <span class="error">
              , fault: <Text text={fault} />
            </span>
          )}
        </>
      }
    />
  );
}
