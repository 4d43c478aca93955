import iconv from 'iconv-lite';
import { expect, it } from 'vitest';
import { decodeText } from './text-file.ts';

it.each([
  ['windows-1252', 'café und straße, häuser und grüße\n'],
  ['windows-1252', 'naïve résumé déjà vu'],
  ['windows-1252', '# señor mañana\nx = "é"\n'],
  ['windows-1252', 'price: 5 €, “quoted”\n'],
  ['shift_jis', 'これは日本語のテキストです。\nprint("日本")\n'],
  ['euc-jp', 'これは日本語のテキストです。漢字とかなとカナ\n'],
  ['windows-1251', 'Привет, как дела сегодня?\n'],
  ['koi8-r', 'Привет, как дела сегодня?\n'],
  ['gbk', '中文文本在这里，我们写一些字\n'],
  ['big5', '這是一個中文的檔案，我們在這裡寫一些字\n'],
  ['euc-kr', '이것은 한국어로 쓴 문서입니다. 안녕하세요\n'],
  ['windows-1253', 'Αυτό είναι ένα κείμενο στα ελληνικά\n'],
])('RT60: a text in %s is read as it was written, and goes back to the same bytes: %j', async (encoding, text) => {
  const bytes = iconv.encode(text, encoding);
  const file = await decodeText(bytes);
  expect(file.text).toBe(text);
  expect(file.encode(file.text)).toEqual(bytes);
});
