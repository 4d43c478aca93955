// @ts-nocheck: it runs in a page, whose types the executor does not have.

/** The picture with a box and the id at every mark, as base64 of a PNG. Nothing of the page is touched. Self-contained. */
export async function drawMarks({ picture, marks }) {
  const bytes = Uint8Array.from(atob(picture), (char) => char.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext('2d');
  context.drawImage(bitmap, 0, 0);
  context.font = 'bold 12px sans-serif';
  context.textBaseline = 'top';
  for (const [index, [bid, x, y, width, height]] of marks.entries()) {
    const color = `hsl(${(index * 137) % 360} 85% 35%)`;
    context.strokeStyle = color;
    context.lineWidth = 2;
    context.strokeRect(x, y, width, height);
    const labelWidth = context.measureText(bid).width + 6;
    const [left, top] = [Math.max(0, Math.min(x, canvas.width - labelWidth)), y >= 15 ? y - 15 : y];
    context.fillStyle = color;
    context.fillRect(left, top, labelWidth, 15);
    context.fillStyle = 'white';
    context.fillText(bid, left + 3, top + 2);
  }
  const blob = await canvas.convertToBlob({ type: 'image/png' });
  const drawn = new Uint8Array(await blob.arrayBuffer());
  let binary = '';
  for (let at = 0; at < drawn.length; at += 32_768) binary += String.fromCharCode(...drawn.subarray(at, at + 32_768));
  return btoa(binary);
}
