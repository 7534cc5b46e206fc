//! Small images with a palette, as data URIs.

use base64::{Engine, engine::general_purpose::STANDARD};

/// A PNG of palette numbers, row by row from the top. Empty if there is nothing to show.
pub(crate) fn data_uri(width: usize, height: usize, pixels: &[u8], palette: &[[u8; 4]]) -> String {
    encode(width, height, pixels, palette)
        .map_or_else(String::new, |png| format!("data:image/png;base64,{}", STANDARD.encode(png)))
}

fn encode(width: usize, height: usize, pixels: &[u8], palette: &[[u8; 4]]) -> Option<Vec<u8>> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, u32::try_from(width).ok()?, u32::try_from(height).ok()?);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(palette.iter().flat_map(|c| [c[0], c[1], c[2]]).collect::<Vec<u8>>());
    encoder.set_trns(palette.iter().map(|c| c[3]).collect::<Vec<u8>>());
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(pixels).ok()?;
    writer.finish().ok()?;
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_read_back() {
        let file = encode(2, 1, &[1, 0], &[[1, 2, 3, 255], [9, 8, 7, 0]]).unwrap();
        let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; 8];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels, [9, 8, 7, 0, 1, 2, 3, 255]);
    }

    #[test]
    fn nothing_is_not_an_image() {
        assert_eq!(data_uri(0, 0, &[], &[]), "");
        assert_eq!(data_uri(2, 2, &[0], &[[0; 4]]), "");
    }
}
