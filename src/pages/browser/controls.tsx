import { chains } from '../../model/chain.ts';
import { shellWord } from '../../model/shell.ts';
import { counted, formatCount } from '../../output/format.ts';
import type { SandboxWorld } from '../service.ts';
import { postControl } from './ask.ts';
import { ActForm, type ActFormProps, type Field, Fields, Input } from './form.tsx';
import { useFrame } from './frame.ts';
import { useState } from './preact.ts';
import { writeHref } from './route.ts';
import { Section } from './service-parts.tsx';
import { type Fact, Facts, Text } from './text.tsx';

/** What changes the world; each control shows what it did, and the command that does the same. */
export function Controls({ world }: { world: SandboxWorld | undefined }) {
  const { commandStart: start, controlStart } = useFrame().facts;
  return (
    <>
      <Section title="World" commands={[{ name: 'Command', line: `${start} sandbox status` }]}>
        {world !== undefined && <Figures world={world} />}
      </Section>
      <div class="columns">
        <Trade start={start} />
        <Simulation rate={world?.simulation ?? null} start={start} />
        <Clock start={start} />
        <Faults set={world?.faults ?? []} controlStart={controlStart ?? ''} />
        <Reset start={start} />
      </div>
    </>
  );
}

function Figures({ world }: { world: SandboxWorld }) {
  const figures: readonly Fact[] = [
    ['Clock', `${world.now.slice(0, 19).replace('T', ' ')}Z${world.frozen ? ', stopped' : ''}`],
    ['Trades', formatCount(world.trades)],
    ['Traders', formatCount(world.traders)],
    ['Positions', formatCount(world.positions)],
    ['Comments', formatCount(world.comments)],
    ['Deliveries waiting', formatCount(world.waiting)],
  ];
  return <Facts kind="counters" facts={figures} />;
}

interface ControlProps extends ActFormProps {
  title: string;
  /** The command that does the same, or `curl` where there is none. */
  line: string;
}

/** What it was told to do is told again in its answer. */
function Control({ title, line, ...form }: ControlProps) {
  return (
    <Section title={title} commands={[{ name: line.startsWith('curl') ? 'As curl' : 'Command', line }]}>
      <ActForm kind="control" {...form} />
    </Section>
  );
}

const firstTrade = {
  chain: 'base',
  trader: '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2',
  token: '0x5180db8f5c931aae63c74266b211f580155ecac8',
  side: 'buy',
  amount: '1000',
  usd: '250',
};
const tradeFields: readonly Field<keyof typeof firstTrade>[] = [
  ['chain', 'Chain', chains],
  ['side', 'Side', ['buy', 'sell']],
  ['trader', 'Trader', { required: true }],
  ['token', 'Token', { required: true }],
  ['amount', 'Amount', { required: true, inputMode: 'decimal' }],
  ['usd', 'Value in USD', { required: true, inputMode: 'decimal' }],
];

function Trade({ start }: { start: string }) {
  const [trade, setTrade] = useState(firstTrade);
  const line = `${start} sandbox trade ${Object.entries(trade)
    .map(([flag, value]) => `--${flag} ${value}`)
    .join(' ')}`;
  const make = async () => {
    const made = await postControl<{ positionId: string; deliveries: number }>('trade', {
      ...trade,
      amount: Number(trade.amount),
      usd: Number(trade.usd),
    });
    return (
      <>
        Made; {counted(made.deliveries, 'delivery')}.{' '}
        <a href={writeHref('position', [made.positionId])}>Its position</a>
      </>
    );
  };
  return (
    <Control title="Make a trade" button="Trade" onAct={make} line={line}>
      <Fields fields={tradeFields} values={trade} onChange={setTrade} />
    </Control>
  );
}

function Simulation({ rate, start }: { rate: string | null; start: string }) {
  const [wanted, want] = useState('2/s');
  const simulate = async (next: string | null) => {
    await postControl('simulate', { rate: next });
    return next === null ? 'Stopped.' : `Makes ${next} trades until it is stopped.`;
  };
  return (
    <Control
      title="Simulate trades"
      button={rate === null ? 'Start' : 'Change'}
      onAct={() => simulate(wanted)}
      line={`${start} sandbox simulate --rate ${wanted}`}
      more={
        rate !== null && (
          <button type="button" onClick={() => void simulate(null)}>
            Stop {rate}
          </button>
        )
      }
    >
      <Input label="Trades a second" required value={wanted} onType={want} />
    </Control>
  );
}

function Clock({ start }: { start: string }) {
  const [duration, setDuration] = useState('1d');
  const advance = async () => {
    const { now } = await postControl<SandboxWorld>('advance', { duration });
    return `It is ${now.slice(0, 19).replace('T', ' ')}Z now.`;
  };
  return (
    <Control title="Advance the clock" button="Advance" onAct={advance} line={`${start} sandbox advance ${duration}`}>
      <Input label="By, such as 12h or 8d" required value={duration} onType={setDuration} />
    </Control>
  );
}

function Faults({ set, controlStart }: { set: readonly string[]; controlStart: string }) {
  const [fault, setFault] = useState('503:every=3:GET /v2/leaderboard');
  const change = async (faults: readonly string[]) => {
    await postControl('faults', { faults });
    return faults.length === 0 ? 'No fault is set.' : 'Set. This page itself meets none.';
  };
  return (
    <Control
      title="Set faults"
      button="Add"
      onAct={() => change([...set, fault])}
      line={`${controlStart}faults --data ${shellWord(JSON.stringify({ faults: [...set, fault] }))}`}
      more={
        <ul class="set">
          {set.map((each) => (
            <li key={each}>
              <Text as="code" text={each} />
              <button type="button" onClick={() => void change(set.filter((other) => other !== each))}>
                Remove
              </button>
            </li>
          ))}
        </ul>
      }
    >
      <Input class="wide" label="Fault: what, when, method and path" required value={fault} onType={setFault} />
    </Control>
  );
}

function Reset({ start }: { start: string }) {
  const [isEmpty, setEmpty] = useState(false);
  const reset = async () => {
    await postControl('reset', { empty: isEmpty });
    return 'It is a new world.';
  };
  return (
    <Control
      title="Reset"
      button="Reset"
      question="All that was traded, posted and registered here is deleted. Press again to do it."
      answers={['Delete and reset', 'Keep it']}
      onAct={reset}
      line={`${start} sandbox reset${isEmpty ? ' --empty' : ''}`}
    >
      <label class="check">
        <input type="checkbox" checked={isEmpty} onChange={(event) => setEmpty(event.currentTarget.checked)} /> without
        trades
      </label>
    </Control>
  );
}
