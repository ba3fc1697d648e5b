import { splitUnseen } from '../../model/safe-text.ts';
import type { ShownCommand } from '../deliveries.ts';
import { type ComponentChildren, useState } from './preact.ts';

/** Text of others: what would not be seen, or would change the direction of what is, stands as a mark. */
export function Text({ text }: { text: string }) {
  return (
    <bdi>
      {splitUnseen(text).map((part, index) =>
        part.unseen ? (
          <span key={index} class="unseen">
            {part.text}
          </span>
        ) : (
          part.text
        ),
      )}
    </bdi>
  );
}

/** The same as plain text, for what cannot hold elements. */
export function seen(text: string): string {
  return splitUnseen(text)
    .map((part) => part.text)
    .join('');
}

interface RowProps {
  before?: ComponentChildren;
  title: string;
  /** Such as `gain`. */
  tone?: string;
  after?: ComponentChildren;
  about: ComponentChildren;
}

/** Two lines of a list: a title with what stands before and after it, and what is told of it. */
export function Row({ before, title, tone, after, about }: RowProps) {
  return (
    <>
      <span class="top">
        {before}
        <span class={tone === undefined ? 'type' : `type ${tone}`}>
          <Text text={title} />
        </span>
        {after}
      </span>
      <span class="about">{about}</span>
    </>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  /** A value alone is its own text. */
  options: readonly (string | readonly [value: string, text: string])[];
  onChange: (value: string) => void;
}

export function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map((option) => {
          const [each, text] = typeof option === 'string' ? [option, option] : option;
          return (
            <option key={each} value={each}>
              {text}
            </option>
          );
        })}
      </select>
    </label>
  );
}

/** A name, what it is, and its tone, such as `gain`. */
export type Fact = readonly [name: string, value: string, tone?: string];

/** `kind` as the style sheet has it. */
export function Facts({ facts, kind }: { facts: readonly Fact[]; kind?: string }) {
  return (
    <dl class={kind}>
      {facts.map(([name, value, tone], index) => (
        <div key={index}>
          <dt>
            <Text text={name} />
          </dt>
          <dd class={tone}>
            <Text text={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function Alert({ text }: { text: string }) {
  if (text === '') return null;
  return (
    <p class="error" role="alert">
      <Text text={text} />
    </p>
  );
}

/** Command lines that give what a view shows, each with a button that copies it. */
export function Commands({ commands }: { commands: readonly ShownCommand[] }) {
  return (
    <ul class="commands">
      {commands.map(({ name, line }) => (
        <li key={name}>
          <span class="name">{name}</span>
          <code>
            <Text text={line} />
          </code>
          <CopyButton text={line} what={name} />
        </li>
      ))}
    </ul>
  );
}

interface CopyProps {
  text: string;
  /** What is copied, for who does not see it. */
  what: string;
  children?: ComponentChildren;
}

export function CopyButton({ text, what, children = 'Copy' }: CopyProps) {
  const [said, say] = useState('');
  const copy = () => {
    const done = (result: string) => {
      say(result);
      setTimeout(() => say(''), 1500);
    };
    navigator.clipboard.writeText(text).then(
      () => done('Copied'),
      () => done('Not allowed'),
    );
  };
  return (
    <button type="button" onClick={copy} aria-label={`Copy: ${seen(what)}`} title="Copy">
      <span aria-live="polite">{said || children}</span>
    </button>
  );
}
