/** A thumbnail of fixed size beside what it shows; the size is there before the picture is. */
export function Picture(props: { readonly src: string; readonly alt: string; readonly title: string; readonly text: string }) {
  const { src, alt, title, text } = props;
  return (
    <div className="media">
      <img className="shot" src={src} alt={alt} loading="lazy" decoding="async" />
      <p>
        {title && <b>{title}</b>}
        {title && text && <br />}
        <span className="line-clamp-3">{text}</span>
      </p>
    </div>
  );
}

/** Only pictures that came with the event are shown: nothing is fetched from elsewhere. */
export function isInlinePicture(url: string): boolean {
  return url.startsWith('data:image/');
}
