import { ansiPieces } from './ansi.ts';

export function AnsiText({ text }: { readonly text: string }) {
  return ansiPieces(text).map((piece, index) =>
    piece.look ? (
      <span key={index} className={piece.look}>
        {piece.text}
      </span>
    ) : (
      piece.text
    ),
  );
}
