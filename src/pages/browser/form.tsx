import type { SendOutcome } from '../activity.ts';
import { type ComponentChildren, type InputAttributes, useState } from './preact.ts';
import { Text } from './text.tsx';

type Option = string | readonly [value: string, text: string];

interface ChoiceProps {
  label: ComponentChildren;
  value: string;
  /** A value alone is its own text. */
  options: readonly Option[];
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

interface InputProps extends InputAttributes {
  label: ComponentChildren;
  value: string;
  onType: (value: string) => void;
}

/** A line to type in. */
export function Input({ label, onType, ...attributes }: InputProps) {
  return (
    <label>
      {label}
      <input {...attributes} onInput={(event) => onType(event.currentTarget.value)} />
    </label>
  );
}

interface ActFormProps {
  /** Its CSS class. */
  kind?: 'act' | 'control';
  button: string;
  /** Asked first, for what cannot be undone. */
  question?: string | undefined;
  /** Shown beside the button. */
  more?: ComponentChildren;
  onAct: () => Promise<ComponentChildren>;
  children?: ComponentChildren;
}

/** A form, or only a button, that shows the outcome. */
export function ActForm({ kind = 'act', button, question, more, onAct, children }: ActFormProps) {
  const [said, say] = useState<ComponentChildren>('');
  const [asks, ask] = useState(false);
  const act = async () => {
    if (question !== undefined && !asks) {
      ask(true);
      return say(question);
    }
    ask(false);
    say('…');
    say(await onAct().catch((thrown: Error) => <Text as="span" class="error" text={thrown.message} />));
  };
  return (
    <form
      class={kind}
      onSubmit={(event) => {
        event.preventDefault();
        void act();
      }}
    >
      {children}
      <button type="submit">{asks ? `Yes, ${button.toLowerCase()}` : button}</button>
      {asks && (
        <button type="button" onClick={() => [ask(false), say('')]}>
          No
        </button>
      )}
      {more}
      <output>{said}</output>
    </form>
  );
}

export function Outcome({ outcome: { text, failed } }: { outcome: SendOutcome }) {
  return <Text as="span" class={failed ? 'error' : ''} text={text} />;
}
