import type { Card, Comment } from '../../api/position-answers.ts';
import { counted, shortAddress } from '../../lib/output/format.ts';
import type { ShownCommand } from '../deliveries.ts';
import type { useCall } from './ask.ts';
import { Id, Moment, Skeleton } from './cells.tsx';
import { DataTable } from './data-table.tsx';
import { useFrame } from './frame.ts';
import { type ComponentChildren, useId } from './preact.ts';
import { writeHref } from './route.ts';
import { Commands, Text } from './text.tsx';

interface SectionProps {
  title: string;
  commands?: readonly ShownCommand[];
  children: ComponentChildren;
}

/** A part of a view, with the commands that give the same. */
export function Section({ title, commands = [], children }: SectionProps) {
  const id = useId();
  return (
    <section class="part" aria-labelledby={id}>
      <Text as="h3" id={id} text={title} />
      {children}
      {commands.length > 0 && <Commands commands={commands} />}
    </section>
  );
}

function TraderLink({ id, name }: { id: string; name: string }) {
  return <Text as="a" href={writeHref('trader', [id])} text={name === '' ? shortAddress(id) : name} />;
}

interface PositionsProps {
  title: string;
  asked: ReturnType<typeof useCall<readonly Card[]>>;
  omit: readonly string[];
}

export function Positions({ title, asked: { table, error, commands }, omit }: PositionsProps) {
  return (
    <Section title={title} commands={commands}>
      <DataTable label={title} empty="None." {...{ table, error, omit }} />
    </Section>
  );
}

/** `DEGEN on base`; of a perp, with its side. */
export function nameCardToken({ metadata }: Card): string {
  const { tokenSymbol, tokenAddress, tokenChain, perpPositionType: side } = metadata;
  const name = `${tokenSymbol || shortAddress(tokenAddress)} on ${tokenChain}`;
  return typeof side === 'string' ? `${side} ${name}` : name;
}

/** The way back, and what is shown. */
export function Crumbs({ here }: { here: string }) {
  const { from } = useFrame();
  return (
    <nav class="crumbs" aria-label="Breadcrumb">
      <Text as="a" href={from.href} text={from.title} />
      <Text as="span" aria-current="page" text={here} />
    </nav>
  );
}

export interface Said {
  comment: Comment;
  by: { address: string; name?: string | null | undefined };
  /** What it is said of. */
  about: ComponentChildren;
}

const maxShown = 100;

/** What was said, whole, with who answered. */
export function Comments({ said, empty, error }: { said: readonly Said[] | undefined; empty: string; error: string }) {
  if (said === undefined) return <Skeleton label="Comments" error={error} />;
  if (said.length === 0) return <p class="muted">{empty}</p>;
  return (
    <>
      {said.slice(0, maxShown).map(({ comment, by, about }) => (
        <blockquote key={comment.uid}>
          <Words text={comment.commentText} />
          <footer class="muted">
            <TraderLink id={by.address} name={by.name ?? ''} /> {about}, <Moment atSec={comment.timestamp} />,{' '}
            {counted(comment.metrics?.likeCount ?? 0, 'like')} <Id text={comment.uid} />
          </footer>
          {comment.replies?.map(({ id, text, author, timestamp }) => (
            <blockquote key={id}>
              <Words text={text} />
              <footer class="muted">
                <TraderLink id={author.address} name={author.name ?? ''} />, <Moment atSec={timestamp} />
              </footer>
            </blockquote>
          ))}
        </blockquote>
      ))}
      {said.length > maxShown && <p class="muted">And {counted(said.length - maxShown, 'comment')} more.</p>}
    </>
  );
}

function Words({ text }: { text: string }) {
  return <Text as="p" text={text} />;
}
