import { counted } from '../../output/format.ts';
import type { SandboxDelivery } from '../service.ts';
import { useAsked, useCall } from './ask.ts';
import { Moment } from './cells.tsx';
import { useFrame } from './frame.ts';
import { OpenList, Section } from './service-parts.tsx';
import { Row, Text } from './text.tsx';

interface Webhook {
  uid: string;
  destinationUrl: string;
}

/** The webhooks of the key, and in a sandbox what was delivered to them. */
export function Webhooks({ isSandbox, version }: { isSandbox: boolean; version: number }) {
  const { data, error, commands } = useCall<Webhook[]>('webhook list', {}, version);
  const { examples } = useFrame();
  return (
    <>
      <Section title="Webhooks" commands={commands}>
        <OpenList
          label="Webhooks"
          error={error}
          items={data}
          keyOf={({ uid }) => uid}
          empty="None. To make one:"
          line={examples['webhook register']}
          render={({ uid, destinationUrl }) => <Row title={destinationUrl} about={<Text text={uid} />} />}
        />
      </Section>
      {isSandbox && <Deliveries version={version} />}
    </>
  );
}

function Deliveries({ version }: { version: number }) {
  const { data, error } = useAsked<SandboxDelivery[]>('service/control', { name: 'deliveries' }, version);
  const { examples } = useFrame();
  return (
    <Section title="Deliveries">
      <OpenList
        label="Deliveries"
        error={error}
        items={data}
        keyOf={({ seq }) => String(seq)}
        empty="None yet. A trade of a trader whom somebody of a webhook follows makes one, and:"
        line={examples['webhook trigger']}
        render={renderDelivery}
      />
    </Section>
  );
}

const tones: Readonly<Record<string, string>> = { delivered: 'forwarded', waiting: 'waiting' };

function renderDelivery({ state, tries, status, error, type, atMs, url }: SandboxDelivery) {
  return (
    <Row
      title={type}
      after={
        <>
          <span class={`status ${tones[state] ?? 'refused'}`}>{state}</span>
          <Moment atSec={Math.floor(atMs / 1000)} />
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
