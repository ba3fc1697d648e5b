import { formatCount } from '../../lib/output/format.ts';
import type { WalletText } from '../wallet.ts';
import { useMemo } from './preact.ts';
import { CopyButton, Text } from './text.tsx';

interface TextCardProps {
  text: WalletText;
  outcome: string | null;
  title: string;
}

/** A text to be signed, byte for byte, and what became of it. */
export function TextCard({ text, outcome, title }: TextCardProps) {
  // Of many texts only those are drawn again whose outcome changed.
  return useMemo(
    () => (
      <article class="card" aria-label={title}>
        <h3>
          {title} {outcome !== null && <OutcomeText outcome={outcome} />}
        </h3>
        <TextBody text={text} title={title} />
      </article>
    ),
    [text, outcome, title],
  );
}

function TextBody({ text, title }: { text: WalletText; title: string }) {
  const { message, commentText, characters, bytes, warnings, commands } = text;
  const fields = splitTextLines(message.slice(0, message.length - commentText.length));
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard must too */}
      <section class="lines message" aria-label={`Text that is signed: ${title}`} tabIndex={0}>
        {fields.slice(0, -1).map((line, index) => (
          <Line key={index} line={line} isLast={false} />
        ))}
        <div class="comment">
          <Line line={fields.at(-1) ?? ''} isLast={false} />
          <div>
            {splitTextLines(commentText).map((line, index, lines) => (
              <Line key={index} line={line} isLast={index === lines.length - 1} />
            ))}
          </div>
        </div>
      </section>
      {warnings.map((warning) => (
        <Text as="p" key={warning} class="warning" text={warning} />
      ))}
      <p class="muted">
        {formatCount(characters)} characters of comment, {formatCount(bytes)} bytes in all
      </p>
      <details>
        <summary>Commands</summary>
        <ul class="commands">
          {commands.map(({ name, line }) => (
            <li key={name}>
              <span class="name">{name}</span>
              <Text as="code" text={line} />
              <CopyButton text={line} what={name} />
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}

function OutcomeText({ outcome }: { outcome: string }) {
  const isRefused = outcome.startsWith('refused');
  return <Text as="span" class={isRefused ? 'status refused' : 'status forwarded'} text={outcome} />;
}

/** Each with its line end. */
function splitTextLines(text: string): string[] {
  return text.split(/(?<=\n)/);
}

/** A line end is shown as LF and the end of the text as END, so that spaces before them are seen. */
function Line({ line, isLast }: { line: string; isLast: boolean }) {
  const hasEnd = line.endsWith('\n');
  return (
    <div>
      <Text text={hasEnd ? line.slice(0, -1) : line} />
      {hasEnd && <span class="end">LF</span>}
      {isLast && <span class="end">END</span>}
    </div>
  );
}
