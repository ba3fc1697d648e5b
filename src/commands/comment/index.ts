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
