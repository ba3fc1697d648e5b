import type { LoggedRequest } from '../../model/logged-request.ts';
import { OpenList, Row, Section } from './service-parts.tsx';
import { Text } from './text.tsx';

/** What programs asked the sandbox, newest first: names it ignored, and faults that it injected. */
export function Requests({ requests, start }: { requests: readonly LoggedRequest[] | undefined; start: string }) {
  return (
    <Section title="Requests" commands={[{ name: 'Command', line: `${start} sandbox log` }]}>
      <OpenList
        label="Requests"
        items={requests?.map((request, index) => ({ request, key: String(requests.length - index) }))}
        keyOf={({ key }) => key}
        empty="None since it was started; those of this page are not counted."
        render={({ request }) => renderRequest(request)}
      />
    </Section>
  );
}

function renderRequest({ time, method, path, status, ms, partner, key, ignored, fault }: LoggedRequest) {
  return (
    <Row
      top={
        <>
          <span class={`status ${status < 400 ? 'forwarded' : 'refused'}`}>{status}</span>
          <span class="type">
            <Text text={`${method} ${path}`} />
          </span>
          <time>{`${time.slice(0, 19).replace('T', ' ')}Z`}</time>
        </>
      }
      about={
        <>
          {ms} ms, {key === null ? 'no key' : `${partner === null ? 'unknown key' : `key ${partner}`} ${key}`}
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
