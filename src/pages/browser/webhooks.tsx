import { hideUrlSecrets } from '../../client/secrets.ts';
import { counted, formatCount } from '../../lib/output/format.ts';
import type { ShownCommand } from '../deliveries.ts';
import type { SandboxDelivery, SandboxWebhook, ShownSandboxDelivery } from '../service.ts';
import { postControl, useCall, useControl } from './ask.ts';
import { BodyView } from './body-view.tsx';
import { Moment, Skeleton } from './cells.tsx';
import { Forwarded, sayTime } from './delivery-detail.tsx';
import { ActForm } from './form.tsx';
import { useFrame } from './frame.ts';
import { type Chosen, Detail, Inspector, type Tab } from './inspector.tsx';
import { useMemo, useState } from './preact.ts';
import { submitRequest } from './request-detail.tsx';
import { type Fact, Row, Text } from './text.tsx';

interface Webhook {
  uid: string;
  destinationUrl: string;
}

/** The webhooks of the key, and in a sandbox what was delivered to them. */
export function Webhooks({ first }: { first: Chosen | undefined }) {
  const { examples, commandStart, isSandbox } = useFrame().facts;
  const { data: answer, error, commands } = useCall<Webhook[]>('webhook.list', {});
  const data = useMemo(
    () => answer?.map((each) => ({ ...each, destinationUrl: hideUrlSecrets(each.destinationUrl) })),
    [answer],
  );
  const asked = useControl<SandboxDelivery[]>(isSandbox ? { name: 'deliveries' } : undefined);
  const failed = asked.data?.filter(({ state }) => state === 'failed').length ?? 0;
  const webhooks: Tab<Webhook> = {
    kind: 'webhook',
    title: `Webhooks ${data === undefined ? '' : formatCount(data.length)}`,
    label: 'Webhooks',
    items: data,
    error,
    readKey: ({ uid }) => uid,
    render: ({ uid, destinationUrl }) => <Row title={destinationUrl} about={<Text text={uid} />} />,
    empty: 'None. To make one:',
    line: examples['webhook.register'],
  };
  const deliveries: Tab<SandboxDelivery> = {
    kind: 'delivery',
    title: `Deliveries ${formatCount(asked.data?.length ?? 0)}${failed > 0 ? `, ${formatCount(failed)} failed` : ''}`,
    label: 'Deliveries',
    items: asked.data,
    readKey: ({ seq }) => String(seq),
    render: renderDelivery,
    empty: 'None yet. A trade of a trader whom somebody of a webhook follows makes one, and:',
    line: `${commandStart} webhook trigger new-feed-item`,
  };
  return (
    <Inspector
      tabs={isSandbox ? [webhooks, deliveries] : [webhooks]}
      first={first}
      commands={commands}
      chooser="Choose one: click, or arrow keys in the list."
      detail={({ kind, key }) => {
        if (kind === 'delivery') return <Delivery key={key} seq={key} />;
        const lines = writeLines(commandStart, key);
        if (isSandbox) return <SandboxWebhookDetail key={key} uid={key} commands={lines} />;
        const url = data?.find(({ uid }) => uid === key)?.destinationUrl ?? '';
        return <Detail title={url} facts={[['Uid', key]]} commands={lines} />;
      }}
    />
  );
}

function writeLines(start: string, uid: string): ShownCommand[] {
  return [
    { name: 'Its secret', line: `${start} webhook list --show-secrets` },
    { name: 'Check it', line: `${start} webhook validate ${uid}` },
    { name: 'Delete it', line: `${start} webhook delete ${uid}` },
  ];
}

interface SandboxWebhookProps {
  uid: string;
  commands: readonly ShownCommand[];
}

function SandboxWebhookDetail({ uid, commands }: SandboxWebhookProps) {
  const [isGone, setGone] = useState(false);
  const query = isGone ? undefined : { name: 'webhook', uid };
  const { data, error } = useControl<SandboxWebhook>(query);
  if (isGone) return <p role="status">Deleted, with what waited to be delivered.</p>;
  if (data === undefined) return <Skeleton label="Detail" error={error} />;
  const { url, partner, addresses, delivered, waiting, failed } = data;
  const facts: Fact[] = [
    ['Uid', uid],
    ['Partner', partner],
    ['Addresses', formatCount(addresses)],
    [
      'Deliveries',
      `${formatCount(delivered)} delivered, ${formatCount(waiting)} waiting, ${formatCount(failed)} failed`,
    ],
  ];
  const showSecret = async () => <code>{(await postControl<{ secret: string }>('secret', { uid })).secret}</code>;
  const remove = async () => {
    const key = partner === 'a' ? 'a' : 'b';
    const made = await submitRequest({ method: 'DELETE', target: `/v1/webhooks/feed/${encodeURIComponent(uid)}`, key });
    if (made?.error) throw new Error(made.error);
    setGone(true);
    return '';
  };
  return (
    <Detail title={url} facts={facts} commands={commands}>
      <h3>Secret</h3>
      <ActForm button="Show the secret" onAct={showSecret} />
      <h3>Disable</h3>
      <ActForm
        button="Delete the webhook"
        question="It gets nothing any more, and what waits to be delivered is dropped."
        onAct={remove}
      />
    </Detail>
  );
}

function Delivery({ seq }: { seq: string }) {
  const { data, error } = useControl<ShownSandboxDelivery>({ name: 'delivery', seq });
  if (data === undefined) return <Skeleton label="Detail" error={error} />;
  const { row, body, bodyBytes } = data;
  const facts: Fact[] = [
    ['Event id', row.eventId],
    ['Type', row.type],
    ['Made', sayTime(row.atMs)],
    ['Webhook', row.uid],
    ['State', row.state],
  ];
  const send = async () => {
    await postControl('redeliver', { seq });
    return 'It is sent now.';
  };
  const state = tones[row.state] ?? 'failed';
  return (
    <Detail title={row.type} facts={facts}>
      <h3>Sent</h3>
      <Forwarded forward={{ ...row, state, ms: null, atMs: null }} onSend={send} />
      <h3>Body</h3>
      <BodyView base64={body} bytes={bodyBytes} />
    </Detail>
  );
}

const tones: Readonly<Record<string, 'forwarded' | 'waiting'>> = { delivered: 'forwarded', waiting: 'waiting' };

function renderDelivery({ state, tries, status, error, type, atMs, url }: SandboxDelivery) {
  return (
    <Row
      title={type}
      after={
        <>
          <span class={`status ${tones[state] ?? 'failed'}`}>{state}</span>
          <Moment atSec={atMs / 1000} />
        </>
      }
      about={
        <>
          {status ?? ''} <Text text={[url, error].filter(Boolean).join(': ')} />,{' '}
          {tries === 1 ? 'first try' : counted(tries, 'try')}
        </>
      }
    />
  );
}
