import type { Comment } from '../../model/position.ts';
import { counted } from '../../output/format.ts';
import { Id, Moment, Skeleton } from './cells.tsx';
import type { ComponentChildren } from './preact.ts';
import { TraderLink } from './service-parts.tsx';
import { Text } from './text.tsx';

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
