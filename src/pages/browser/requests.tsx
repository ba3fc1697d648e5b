import { formatCount } from '../../lib/output/format.ts';
import type { RequestRow } from '../requests.ts';
import { type Field, FilterBar } from './form.tsx';
import { useFrame } from './frame.ts';
import { Inspector, type Tab } from './inspector.tsx';
import { useMemo, useState } from './preact.ts';
import { hasFailed, RequestDetail, Status } from './request-detail.tsx';
import { Row, Text } from './text.tsx';

const noFilters = { text: '', path: '', status: '' };
const fields: readonly Field<keyof typeof noFilters>[] = [
  ['text', 'Text', { type: 'search', placeholder: 'error, key, command' }],
  ['path', 'Path', { type: 'search', placeholder: '/v2/leaderboard' }],
  ['status', 'Status', [['', 'any'], 'failed', 'no answer', '2xx', '4xx', '5xx']],
];

interface RequestsProps {
  /** The newest first. */
  requests: readonly RequestRow[] | undefined;
  /** The number of the one that is opened first. */
  first: string | undefined;
}

/** What the service was asked: why it was refused, names without effect, and faults that were injected. */
export function Requests({ requests, first }: RequestsProps) {
  const { empty, line, command } = useFrame().facts.requests;
  const [filters, setFilters] = useState(noFilters);
  const shown = useMemo(() => requests?.filter((row) => fits(row, filters)), [requests, filters]);
  const tab: Tab<RequestRow> = {
    kind: 'request',
    title: 'Requests',
    filters: <FilterBar fields={fields} values={filters} onChange={setFilters} />,
    label: 'Requests',
    items: shown,
    readKey: ({ number }) => String(number),
    render: renderRequest,
    ...(requests?.length === 0 ? { empty, line } : { empty: 'Nothing fits these filters.' }),
  };
  return (
    <Inspector
      tabs={[tab]}
      first={first === undefined ? undefined : { kind: 'request', key: first }}
      commands={[{ name: 'Command', line: command }]}
      chooser="Choose a request: click, or arrow keys in the list."
      detail={({ key }, choose) => (
        <RequestDetail key={key} number={key} onSent={(number) => choose({ kind: 'request', key: String(number) })} />
      )}
    />
  );
}

function fits(row: RequestRow, wanted: typeof noFilters): boolean {
  const { status, method, path, error, ignored, fault = '', by } = row;
  const kinds = [
    `${String(status)[0]}xx`,
    ...(status === 0 ? ['no answer'] : []),
    ...(hasFailed(row) ? ['failed'] : []),
  ];
  const text = [status, method, path, error, ...ignored, fault, by].join(' ').toLowerCase();
  return (
    (wanted.status === '' || kinds.includes(wanted.status)) &&
    path.includes(wanted.path.trim()) &&
    text.includes(wanted.text.trim().toLowerCase())
  );
}

function renderRequest(row: RequestRow) {
  const { time, method, path, ms, error, ignored, fault, by } = row;
  return (
    <Row
      before={<Status row={row} />}
      title={`${method} ${path}`}
      after={<time title={time}>{`${time.slice(11, 19)}Z`}</time>}
      about={
        <>
          {error !== null && (
            <span class="error">
              <Text text={error} />,{' '}
            </span>
          )}
          {formatCount(ms)} ms, <Text text={by} />
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
