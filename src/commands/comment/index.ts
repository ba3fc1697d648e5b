import { ofToken } from '../../api/comment.ts';
import { endpointCommand } from '../../cli/endpoint-command.ts';
import type { Command } from '../command.ts';
import { addCopy } from './copy.ts';
import { addList } from './list.ts';
import { addPost } from './post.ts';
import { addSign } from './sign.ts';
import { addVerify } from './verify.ts';

export function addComment(comment: Command): void {
  addPost(comment);
  addList(comment);
  addCopy(comment);
  addSign(comment);
  addVerify(comment);
}

/** The comments of a token, until its group has moved. */
export const commands = [endpointCommand(ofToken, async () => (await import('./view.ts')).ofToken)];
