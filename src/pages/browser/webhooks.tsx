import { useState } from 'preact/hooks';
import type { ActivityRow } from '../activity.ts';
import { AnswerTable } from './data-table.tsx';
import { Panel, Rows } from './detail.tsx';
import { ActForm, Input } from './form.tsx';
import { postJson } from './page-api.ts';
import { useCall } from './queries.ts';
import { type Route, writeHref } from './route.ts';
import { Facts, Text } from './text.tsx';

interface Webhook {
  uid: string;
  destinationUrl: string;
  walletAddresses?: readonly string[];
}

interface WebhooksProps {
  route: Route;
  rows: readonly ActivityRow[];
}

/** The webhooks of the key. */
export function Webhooks({ route, rows }: WebhooksProps) {
  const answer = useCall<Webhook[]>('webhook.list', {});
  const { data, refetch } = answer;
  const webhooks = data?.data ?? [];
  const [uid] = route.parts;
  const webhook = webhooks.find((each) => each.uid === uid);
  return (
    <div class="inspect">
      <section class="browse" aria-label="Webhooks">
        <Register onMade={refetch} />
        <AnswerTable
          label="Webhooks"
          empty="No webhooks yet."
          omit={['secret']}
          ids={webhooks.map((each) => each.uid)}
          {...{ answer, route }}
        />
      </section>
      {webhook !== undefined && (
        <WebhookPanel
          key={uid}
          webhook={webhook}
          route={route}
          rows={rows.filter((row) => row.kind === 'attempt' && row.webhook === uid)}
          onDeleted={() => {
            location.hash = writeHref('webhooks', [], route.query);
            void refetch();
          }}
        />
      )}
    </div>
  );
}

function Register({ onMade }: { onMade: () => void }) {
  const [url, setUrl] = useState('');
  const [addresses, setAddresses] = useState('');
  const register = async () => {
    const walletAddresses = addresses.split(/[\s,]+/).filter(Boolean);
    await postJson('ui/webhook-register', { destinationUrl: url, walletAddresses });
    onMade();
    return 'Registered.';
  };
  return (
    <details class="fold">
      <summary>Register a webhook</summary>
      <ActForm kind="control" button="Register" onAct={register}>
        <Input
          label="Destination"
          type="url"
          required
          placeholder="https://example.com/hook"
          value={url}
          onType={setUrl}
        />
        <Input label="Addresses" required placeholder="0x…, ext:user-1" value={addresses} onType={setAddresses} />
      </ActForm>
    </details>
  );
}

const maxDeliveries = 20;

interface WebhookPanelProps {
  webhook: Webhook;
  route: Route;
  rows: readonly ActivityRow[];
  onDeleted: () => void;
}

function WebhookPanel({ webhook, route, rows, onDeleted }: WebhookPanelProps) {
  const { uid, destinationUrl, walletAddresses } = webhook;
  const addresses = walletAddresses === undefined ? [] : [['Addresses', walletAddresses.join(' ')] as const];
  const showSecret = async () => (
    <code>{(await postJson<{ secret: string }>('ui/webhook-secret', { uid })).secret}</code>
  );
  const remove = async () => {
    await postJson('ui/webhook-delete', { uid });
    onDeleted();
    return 'Deleted.';
  };
  return (
    <Panel label="Webhook" closeHref={writeHref('webhooks', [], route.query)}>
      <Text as="h2" text={destinationUrl} />
      <Facts kind="facts" facts={[['Uid', uid], ...addresses]} />
      <h3>Last deliveries</h3>
      {rows.length === 0 && <p class="muted">None since this page was opened.</p>}
      <Rows label="Last deliveries" rows={rows.slice(0, maxDeliveries)} query={{}} />
      <h3>Secret</h3>
      <ActForm button="Show secret" onAct={showSecret} />
      <h3>Delete</h3>
      <ActForm button="Delete the webhook" question="It gets no more deliveries." onAct={remove} />
    </Panel>
  );
}
