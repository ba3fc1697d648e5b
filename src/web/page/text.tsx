import { splitUnseen } from '../../output/safe-text.ts';
import type { ShownCommand } from '../deliveries.ts';
import { useState } from './preact.ts';

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

function CopyButton({ text, what }: { text: string; what: string }) {
  const [said, say] = useState('Copy');
  const copy = () => {
    const done = (result: string) => {
      say(result);
      setTimeout(() => say('Copy'), 1500);
    };
    navigator.clipboard.writeText(text).then(
      () => done('Copied'),
      () => done('Not allowed'),
    );
  };
  return (
    <button type="button" onClick={copy} aria-label={`Copy: ${what}`}>
      <span aria-live="polite">{said}</span>
    </button>
  );
}
